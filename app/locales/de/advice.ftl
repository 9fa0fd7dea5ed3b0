### Was ohne WebGPU oder mit einem Software-Adapter zu tun ist.

advice_insecure = Browser bieten WebGPU nur Seiten an, die über eine sichere Verbindung geladen wurden.
advice_no_interface = Dieser Browser bietet kein WebGPU an; der Benchmark braucht es, um die GPU zu nutzen.
advice_no_adapter = Dieser Browser kennt WebGPU, hat aber keine GPU gefunden, die er nutzen darf.
advice_open_securely = Diese Seite mit https:// davor öffnen, oder auf diesem Rechner als http://localhost oder
    http://127.0.0.1.
advice_native = Hilft das nicht? Das Programm native-runner trainiert dieselben Netze ohne Browser, mit
    --adapter discrete auf der Grafikkarte.
advice_dated = { $step } (Stand: { $month })
advice_acceleration = Unter Einstellungen → System die Grafikbeschleunigung einschalten und den Browser neu starten.
advice_driver_blocked = Den Grafiktreiber aktualisieren; chrome://gpu zeigt, ob der Browser den jetzigen sperrt.
advice_firefox_support = Den Grafiktreiber aktualisieren; about:support zeigt, welche Adapter Firefox findet und
    warum er einen ablehnt.
advice_update_system = Das Betriebssystem aktualisieren und mit ihm den Grafiktreiber.
advice_two_gpus = Zwei GPUs? Ein Browser bietet Seiten nur eine davon an: In den Grafikeinstellungen des Systems lässt
    sie sich wählen.
advice_update = Browser und System aktualisieren: WebGPU ist ab { $version } eingeschaltet.
advice_ios_18 = Unter iOS 18: Einstellungen → Apps → Safari → Erweitert → Feature-Flags → WebGPU.
advice_linux_unsafe = Andere GPU oder anderer Treiber? chrome://flags öffnen, „Unsafe WebGPU Support“ und „Vulkan“
    einschalten und den Browser neu starten.
advice_linux_vulkaninfo = Prüfen, ob ein Vulkan-Treiber installiert ist: Der Befehl vulkaninfo listet die GPU auf.
advice_linux_firefox = about:config öffnen, dom.webgpu.enabled auf true setzen und neu starten; in Firefox Nightly
    ist WebGPU schon eingeschaltet.
advice_chrome = Diese Seite in Chrome oder Edge öffnen.
advice_current = Diese Seite in einem aktuellen Chrome, Edge, Firefox oder Safari öffnen.
advice_windows_faster = Unter Einstellungen → System → Anzeige → Grafik den Browser hinzufügen, „Hohe Leistung“ wählen
    und den Browser neu starten.
advice_mac_faster = In den Systemeinstellungen unter Batterie → Optionen „Automatischer Wechsel der Grafikmodi“
    ausschalten und den Browser neu starten.
advice_linux_faster = Den Browser schließen und auf der anderen GPU starten: mit DRI_PRIME=1 vor dem Befehl, beim
    Treiber von NVIDIA mit prime-run.
advice_force_faster = Oder chrome://flags öffnen, „Force High Performance GPU“ einschalten und den Browser neu starten.
