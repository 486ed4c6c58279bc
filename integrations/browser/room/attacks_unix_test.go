//go:build unix

package room

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// target is the canary as most attacks spell it.
const target = "http://127.0.0.1:CANARY/"

// spellings are ways to write an address that no page may reach.
var spellings = []string{
	"http://127.0.0.1:CANARY/", "http://localhost:CANARY/", "http://LOCALHOST.:CANARY/", "http://foo.localhost:CANARY/",
	"http://127.1:CANARY/", "http://0x7f.1:CANARY/", "http://0x7f000001:CANARY/", "http://2130706433:CANARY/",
	"http://017700000001:CANARY/", "http://0177.0.0.0x1:CANARY/", "http://127.0.0.1.:CANARY/", "http://127.255.255.254:CANARY/",
	"http://[::1]:CANARY/", "http://[::]:CANARY/", "http://0.0.0.0:CANARY/", "http://0:CANARY/",
	"http://[::ffff:127.0.0.1]:CANARY/", "http://[::ffff:7f00:1]:CANARY/", "http://[0:0:0:0:0:ffff:127.0.0.1]:CANARY/", "http://[::127.0.0.1]:CANARY/",
	"http://[64:ff9b::7f00:1]:CANARY/", "http://[2002:7f00:1::]:CANARY/", "http://[fe80::1]:CANARY/", "http://[fc00::1]:CANARY/", "http://[ff02::1]:CANARY/",
	"http://①②⑦.⓪.⓪.①:CANARY/", "http://127。0。0。1:CANARY/", "http://%31%32%37.0.0.1:CANARY/",
	"http://169.254.169.254/latest/meta-data/", "http://10.0.0.1:CANARY/", "http://172.16.0.1:CANARY/", "http://192.168.0.1:CANARY/",
	"http://100.64.0.1:CANARY/", "http://100.100.100.200/", "http://192.0.0.192/", "http://198.18.0.1:CANARY/", "http://224.0.0.1:CANARY/", "http://255.255.255.255:CANARY/", "http://240.0.0.1:CANARY/",
	"http://inner.test:CANARY/", "http://mapped.test:CANARY/", "http://metadata.test/", "http://nat64.test:CANARY/",
	"http://user:password@127.0.0.1:CANARY/", "https://127.0.0.1:CANARY/", "ws://127.0.0.1:CANARY/", "wss://localhost:CANARY/",
}

// attacks lists all pages that attack.
func attacks() []attack {
	all := append(elements(), scripts()...)
	all = append(all, navigations()...)
	all = append(all, annoyances()...)
	for i, spelled := range spellings {
		if i%4 == 0 {
			all = append(all, attack{name: fmt.Sprintf("spelled-%d-redirected", i), norun: true, url: "http://site.test:SITE/redirect?to=" + url.QueryEscape(spelled)})
		}
	}
	for n := 0; n < len(spellings); n += 3 {
		html := ""
		for _, spelled := range spellings[n:min(n+3, len(spellings))] {
			html += fmt.Sprintf(`<img src=%[1]q><iframe src=%[1]q></iframe><script>
				fetch(%[1]q, {mode: "no-cors"}).catch(() => 0); new Image().src = %[1]q; try { new WebSocket(%[1]q) } catch {}</script>`, spelled)
		}
		all = append(all, attack{name: fmt.Sprintf("spelled-%d", n), html: html})
	}
	return all
}

// elements are attacks by what a document names.
func elements() []attack {
	var all []attack
	for name, html := range map[string]string{
		"img": `<img src=TARGET>`, "script": `<script src=TARGET></script>`, "module": `<script type=module src=TARGET></script>`,
		"stylesheet": `<link rel=stylesheet href=TARGET>`, "iframe": `<iframe src=TARGET></iframe>`, "frameset": `<iframe srcdoc="<frameset><frame src=TARGET></frameset>"></iframe>`,
		"object": `<object data=TARGET></object>`, "embed": `<embed src=TARGET>`, "video": `<video src=TARGET autoplay></video>`, "audio": `<audio src=TARGET autoplay></audio>`,
		"poster": `<video poster=TARGET></video>`, "track": `<video autoplay><track default src=TARGET></video>`, "background": `<body background=TARGET>`,
		"css-url": `<style>body { background: url(TARGET) } a { cursor: url(TARGET), auto }</style>`, "css-import": `<style>@import url(TARGET);</style>`,
		"font": `<style>@font-face { font-family: x; src: url(TARGET) } p { font-family: x }</style><p>text`, "svg": `<svg><image href=TARGET /><use href="TARGET#x"/></svg>`,
		"picture": `<picture><source srcset=TARGET><img src=TARGET srcset="TARGET 2x"></picture>`, "input-image": `<input type=image src=TARGET>`,
		"icon": `<link rel=icon href=TARGET>`, "manifest": `<link rel=manifest href=TARGET>`, "prefetch": `<link rel=prefetch href=TARGET>`,
		"preload": `<link rel=preload as=script href=TARGET><link rel=modulepreload href=TARGET>`, "preconnect": `<link rel=preconnect href=TARGET><link rel=preconnect href=TARGET crossorigin>`,
		"dns-prefetch": `<link rel=dns-prefetch href=TARGET>`, "prerender": `<link rel=prerender href=TARGET><script type=speculationrules>{"prerender":[{"source":"list","urls":["TARGET"]}],"prefetch":[{"source":"list","urls":["TARGET"]}]}</script>`,
		"srcdoc":       `<iframe srcdoc="<img src=TARGET><script>fetch('TARGET')</script>"></iframe>`,
		"sandboxed":    `<iframe sandbox="allow-scripts" srcdoc="<script>fetch('TARGET',{mode:'no-cors'})</script>"></iframe>`,
		"data-frame":   `<iframe src="data:text/html,<script>fetch('TARGET',{mode:'no-cors'})</script><img src=TARGET>"></iframe>`,
		"nested-frame": `<iframe src="http://other.test:SITE/srcdoc"></iframe>`, "portal": `<portal src=TARGET></portal><fencedframe src=TARGET></fencedframe>`,
		"importmap": `<script type=importmap>{"imports":{"x":"TARGET"}}</script><script type=module>import "x"</script>`,
		"base":      `<base href=TARGET><img src=x.png><script src=y.js></script>`, "meta-csp-report": `<meta http-equiv=Content-Security-Policy content="img-src 'none'; report-uri TARGET"><img src=/x>`,
	} {
		all = append(all, attack{name: name, html: strings.ReplaceAll(html, "TARGET", target)})
	}
	return append(all,
		attack{name: "link-header", html: "x", header: map[string]string{"Link": "<" + target + ">; rel=preconnect, <" + target + ">; rel=preload; as=image"}},
		attack{name: "csp-report", html: "<img src=/x>", header: map[string]string{"Content-Security-Policy": "img-src 'none'; report-uri " + target, "Reporting-Endpoints": `default="` + target + `"`}},
		attack{name: "refresh-header", html: "x", header: map[string]string{"Refresh": "0; url=" + target}},
		attack{name: "alt-svc", html: "<script>fetch('/x')</script>", header: map[string]string{"Alt-Svc": `h3="127.0.0.1:CANARY"; ma=60, h2="localhost:CANARY"`}},
	)
}

// scripts are attacks by what a script can call.
func scripts() []attack {
	var all []attack
	for name, script := range map[string]string{
		"fetch": `fetch("TARGET",{mode:"no-cors"})`, "fetch-keepalive": `fetch("TARGET",{mode:"no-cors",keepalive:true,method:"POST",body:"x"})`,
		"xhr": `var x = new XMLHttpRequest(); x.open("GET","TARGET"); x.send()`, "beacon": `navigator.sendBeacon("TARGET","x")`,
		"websocket": `new WebSocket("ws://127.0.0.1:CANARY/"); new WebSocket("ws://localhost:CANARY/")`, "eventsource": `new EventSource("TARGET")`,
		"worker":         `new Worker(URL.createObjectURL(new Blob(["importScripts('TARGET')"]))); new Worker(URL.createObjectURL(new Blob(["fetch('TARGET',{mode:'no-cors'});new WebSocket('ws://127.0.0.1:CANARY')"])))`,
		"shared-worker":  `new SharedWorker(URL.createObjectURL(new Blob(["fetch('TARGET',{mode:'no-cors'})"])))`,
		"service-worker": `navigator.serviceWorker.register("/js?text="+encodeURIComponent("fetch('TARGET',{mode:'no-cors'})"),{scope:"/"})`,
		"worklet":        `CSS.paintWorklet && CSS.paintWorklet.addModule("TARGET"); new AudioContext().audioWorklet?.addModule("TARGET")`,
		"import":         `import("TARGET")`, "blob-frame": `var f=document.createElement("iframe"); f.src=URL.createObjectURL(new Blob(["<script>fetch('TARGET',{mode:'no-cors'})<"+"/script>"],{type:"text/html"})); document.documentElement.append(f)`,
		"webrtc":       `var p=new RTCPeerConnection({iceServers:[{urls:["stun:127.0.0.1:CANARY","turn:127.0.0.1:CANARY?transport=tcp"],username:"u",credential:"c"}]}); p.createDataChannel("x"); p.createOffer().then(o=>p.setLocalDescription(o))`,
		"webrtc-frame": `var f=document.createElement("iframe"); document.documentElement.append(f); var p=new f.contentWindow.RTCPeerConnection({iceServers:[{urls:"stun:127.0.0.1:CANARY"}]}); p.createDataChannel("x"); p.createOffer().then(o=>p.setLocalDescription(o))`,
		"webtransport": `new WebTransport("https://127.0.0.1:CANARY/")`, "cache": `caches.open("x").then(c=>c.add("TARGET"))`,
		"redirected":      `fetch("/redirect?to="+encodeURIComponent("TARGET"),{mode:"no-cors"}); fetch("/redirect?keep&to="+encodeURIComponent("TARGET"),{mode:"no-cors",method:"POST",body:"x"})`,
		"redirected-ws":   `new WebSocket("ws://"+location.host+"/redirect?to="+encodeURIComponent("TARGET"))`,
		"redirected-img":  `new Image().src="/redirect?to="+encodeURIComponent("TARGET")`,
		"on-unload":       `addEventListener("pagehide",()=>navigator.sendBeacon("TARGET","x")); addEventListener("unload",()=>fetch("TARGET",{keepalive:true}))`,
		"late":            `setInterval(()=>fetch("TARGET",{mode:"no-cors"}).catch(()=>0),50)`,
		"many":            `for(let i=0;i<500;i++) fetch("TARGET?"+i,{mode:"no-cors"}).catch(()=>0)`,
		"port-scan":       `for(let i=1;i<65535;i+=257) fetch("http://127.0.0.1:"+i,{mode:"no-cors"}).catch(()=>0)`,
		"private-request": `fetch("TARGET",{targetAddressSpace:"loopback",mode:"no-cors"}); fetch("TARGET",{targetAddressSpace:"private",mode:"no-cors"})`,
		"hub-secret":      `fetch("http://ready.hub.invalid/").then(r=>r.text()); fetch("http://ready.hub.invalid:CANARY/")`,
		"file-url":        `fetch("file:///etc/passwd"); new Image().src="file:///etc/passwd"; location="file:///etc/passwd"`,
		"chrome":          `fetch("chrome://version"); location="chrome://version"`,
	} {
		all = append(all, attack{name: name, html: "<script>" + strings.ReplaceAll(script, "TARGET", target) + "</script>", linger: 400 * time.Millisecond})
	}
	return all
}

// navigations are attacks by where a page goes.
func navigations() []attack {
	go1 := func(name, html string) attack {
		return attack{name: name, html: strings.ReplaceAll(html, "TARGET", target)}
	}
	return []attack{
		go1("meta-refresh", `<meta http-equiv=refresh content="0;url=TARGET">`),
		go1("location", `<script>location="TARGET"</script>`), go1("location-late", `<script>setTimeout(()=>location="TARGET",100)</script>`),
		go1("form", `<form action=TARGET method=post><input name=a></form><script>document.forms[0].submit()</script>`),
		go1("popup", `<script>open("TARGET"); open("TARGET","_blank","noopener")</script>`),
		{name: "popup-click", html: strings.ReplaceAll(`<button onclick="open('TARGET'); open('about:blank').document.write('<img src=TARGET>')">go</button>`, "TARGET", target), clicks: true},
		{name: "blank-click", html: strings.ReplaceAll(`<a href=TARGET target=_blank>go</a>`, "TARGET", target), clicks: true},
		{name: "ping-click", html: strings.ReplaceAll(`<a href="/img" ping=TARGET>go</a>`, "TARGET", target), clicks: true},
		{name: "download-click", html: strings.ReplaceAll(`<a href=TARGET download=x>go</a>`, "TARGET", target), clicks: true},
		{name: "file-click", html: `<button onclick="document.all.f.click()">go</button><input id=f type=file>`, clicks: true},
		{name: "script-click", html: strings.ReplaceAll(`<a href="javascript:location='TARGET'">go</a>`, "TARGET", target), clicks: true},
		{name: "picker-click", html: `<button onclick="showOpenFilePicker(); showDirectoryPicker()">go</button>`, clicks: true},
		{name: "data-page", html: strings.ReplaceAll(`<a href="data:text/html,<script>location='TARGET'</script>">go</a>`, "TARGET", target), clicks: true},
		{name: "view-source", html: `<a href="view-source:http://127.0.0.1:CANARY/">go</a>`, clicks: true},
		{name: "chain", url: "http://site.test:SITE/chain/x", norun: true},
		{name: "endless", url: "http://site.test:SITE/endless/x", norun: true},
		{name: "https", url: "https://site.test:SITE/", norun: true},
		{name: "direct-canary", url: "http://127.0.0.1:CANARY/", norun: true},
		{name: "direct-name", url: "http://inner.test:CANARY/", norun: true},
		{name: "direct-ftp", html: `<script>location="ftp://127.0.0.1:CANARY/"</script>`},
		{name: "rebound", html: `<script>setInterval(()=>fetch("http://rebind.test:CANARY/"+Math.random(),{mode:"no-cors"}).catch(()=>0),40)</script>`, linger: 600 * time.Millisecond},
	}
}

// annoyances are attacks on the time, the memory and the patience of an agent.
func annoyances() []attack {
	return []attack{
		{name: "loop", html: `<script>setTimeout(()=>{for(;;);},50)</script>`},
		{name: "loop-at-once", html: `<script>for(;;);</script>`, norun: true},
		{name: "loop-in-click", html: `<button onclick="for(;;);">go</button>`, clicks: true},
		{name: "loop-in-unload", html: `<script>onbeforeunload=onpagehide=onunload=()=>{for(;;);}</script>`},
		{name: "loop-in-worker", html: `<script>for(let i=0;i<8;i++) new Worker(URL.createObjectURL(new Blob(["for(;;);"])))</script>`},
		{name: "alerts", html: `<script>for(let i=0;i<50;i++) { alert("x".repeat(100000)); confirm(i); prompt(i) }</script>`, norun: true},
		{name: "alerts-endless", html: `<script>for(;;) alert(1)</script>`, norun: true},
		{name: "beforeunload", html: `<script>onbeforeunload=e=>{e.preventDefault(); return e.returnValue="stay"}</script><button>go</button>`, clicks: true},
		{name: "print", html: `<script>print(); print()</script>`, norun: true},
		{name: "debugger", html: `<script>setInterval(()=>{debugger},1)</script>`},
		{name: "wide", html: `<script>let s="<b>x</b>".repeat(300000); document.body.innerHTML=s</script><body>`, norun: true},
		{name: "deep", html: `<body><script>let e=document.body; for(let i=0;i<20000;i++){const d=document.createElement("div"); e.append(d); e=d} e.append("end")</script>`, norun: true},
		{name: "growing", html: `<body><script>setInterval(()=>{for(let i=0;i<1000;i++) document.body.append(document.createElement("button"))},1)</script>`},
		{name: "long-title", html: `<script>document.title="x".repeat(5e6)</script><button aria-label="y">go</button>`},
		{name: "long-text", html: `<body><script>document.body.append("z".repeat(2e7))</script>`, norun: true},
		{name: "reload", html: `<script>setTimeout(()=>location.reload(),1)</script>`},
		{name: "refresh-loop", html: `<meta http-equiv=refresh content=0>`},
		{name: "push-state", html: `<script>setInterval(()=>{for(let i=0;i<100;i++) history.pushState(0,"","/p"+Math.random())},1)</script>`},
		{name: "popups-endless", html: `<script>setInterval(()=>open("about:blank","_blank"),1)</script>`},
		{name: "popups-click", html: `<button onclick="for(let i=0;i<30;i++) open('/img')">go</button>`, clicks: true},
		{name: "frames-within", html: `<iframe src="/frames-within?1"></iframe><iframe src="/frames-within?2"></iframe>`},
		{name: "console-flood", html: `<script>setInterval(()=>{for(let i=0;i<1000;i++) console.log("x".repeat(1000))},1)</script>`},
		{name: "permissions", html: `<script>navigator.geolocation.getCurrentPosition(()=>0); Notification.requestPermission(); navigator.mediaDevices?.getUserMedia({audio:true,video:true}); navigator.clipboard?.readText()</script>`},
		{name: "fullscreen-click", html: `<button onclick="document.documentElement.requestFullscreen(); document.body.requestPointerLock()">go</button>`, clicks: true},
		{name: "auth", url: "http://site.test:SITE/auth", norun: true},
		{name: "auth-image", html: `<img src=/auth><iframe src=/auth></iframe><script>fetch("/auth")</script>`},
		{name: "proxy-auth", url: "http://site.test:SITE/proxyauth", norun: true},
		{name: "download", url: "http://site.test:SITE/file", norun: true},
		{name: "download-loop", html: `<script>setInterval(()=>location="/file",20)</script>`},
		{name: "silent", url: "http://site.test:SITE/silent", norun: true},
		{name: "drip", url: "http://site.test:SITE/drip", norun: true},
		{name: "silent-image", html: `<img src=/silent><link rel=stylesheet href=/silent>`},
		{name: "crash", html: `<script>setTimeout(()=>{const a=[]; for(;;) a.push(new Array(1e6).fill(a.length))},50)</script>`},
		{name: "false-getters", html: `<script>Object.defineProperty(document,"title",{get(){for(;;);}}); Document.prototype.getElementsByTagName=()=>({length:-1}); Element.prototype.remove=()=>{for(;;);}</script>`},
	}
}
