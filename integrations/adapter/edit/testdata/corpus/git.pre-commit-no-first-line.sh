. "$(dirname "$0")/_/husky.sh"

npm test