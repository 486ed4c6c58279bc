package redact

import (
	"strings"
	"testing"
)

// Passwords stand under short names and in options of commands, where no word says password.
func TestPasswordsUnderShortNames(t *testing.T) {
	r := newRedactor(t, Options{})
	for _, text := range []string{
		"DB_PASS=%s", "export DB_PASS='%s'", "db_pass: %s", `"smtp_pass": "%s"`, "MYSQL_PASSWD=%s", "dbpass=%s",
		"pw=%s", "pw: %s", "PW = %s", "&pass=%s", "pass := %q", "pass=\"%s\"",
		"mysql -u root -p%s shop", "mysqldump --all -h db -p'%s' > all.sql", "mariadb -uapp -p%s", "sshpass -p %s ssh host",
		"sshpass -p'%s' ssh host", "docker login -u ci -p %s registry.example.com", "redis-cli -h cache -a %s ping", "sqlcmd -S db -U sa -P %s",
	} {
		for _, secret := range []string{"hunter2!x", "Tr0ub4dor&3", "s3cr3t-Pa55"} {
			if strings.ContainsAny(secret, "&") && strings.HasPrefix(text, "&") {
				continue // that ends the value
			}
			whole := strings.NewReplacer("%s", secret, "%q", `"`+secret+`"`).Replace(text)
			if got := r.Text(whole); strings.Contains(got, secret) || strings.Contains(got, secret[:5]) {
				t.Errorf("%q is left in %q", secret, got)
			}
		}
	}
	for _, text := range []string{
		"DB_PASS=$DB_PASS", "DB_PASS=${SECRET}", "db_pass: your_password", "pass=12", "pass=345 fail=2", "mysql -u root -p < dump.sql",
		"mysql -p\nmore", "pw: string", "bypass=true", "tests_passed: 12",
	} {
		if got := r.Text(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
