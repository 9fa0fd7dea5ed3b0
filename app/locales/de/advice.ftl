### Was ohne WebGPU oder mit einem Software-Adapter zu tun ist.

advice_insecure = Browser bieten WebGPU nur Seiten an, die über eine sichere Verbindung kamen.
advice_no_interface = Dieser Browser bietet kein WebGPU, das der Benchmark braucht, um die GPU zu erreichen.
advice_no_adapter = Dieser Browser kennt WebGPU, hat aber keine GPU gefunden, die er nutzen darf.
advice_open_securely = Diese Seite mit https:// davor öffnen, oder auf diesem Rechner als http://localhost oder
    http://127.0.0.1.
advice_native = Nichts hilft? Das Programm native-runner trainiert dieselben Netze ohne Browser.
advice_linux_flags = Chrome nimmt unter Linux stillschweigend diesen Adapter, wenn es dem Treiber nicht traut, wie
    bei vielen von NVIDIA: chrome://flags öffnen, „Vulkan“ und „Unsafe WebGPU Support“ einschalten und den Browser
    neu starten.
advice_linux_check = In chrome://gpu sollte hinter „WebGPU“ und „Vulkan“ „Hardware accelerated“ oder „Enabled“ stehen.
advice_acceleration = Unter Einstellungen → System die Grafikbeschleunigung einschalten und den Browser neu starten.
advice_driver_blocked = Den Grafiktreiber aktualisieren; chrome://gpu verrät, ob der Browser den jetzigen sperrt.
advice_firefox_support = Den Grafiktreiber aktualisieren; about:support verrät, welche Adapter Firefox sieht und
    warum einer fehlt.
advice_update_system = Das Betriebssystem aktualisieren und mit ihm den Grafiktreiber.
advice_two_gpus = Zwei GPUs? Ein Browser bietet Seiten nur eine davon an; welche, steht in den Grafikeinstellungen
    des Systems.
advice_native_adapter = native-runner --adapter discrete nimmt die GPU selbst oder sagt, dass es keine gibt.
advice_ios_26 = Auf iOS oder iPadOS 26 aktualisieren: Ab dort ist WebGPU an, in Safari und in jedem anderen Browser.
advice_ios_18 = Unter iOS 18: Einstellungen → Apps → Safari → Erweitert → Feature-Flags → WebGPU.
advice_android_121 = Den Browser aktualisieren: Chrome hat WebGPU seit Version 121, ab Android 12.
advice_android_old_chips = Ältere Grafikchips sind ausgenommen; chrome://gpu verrät, ob dieser dazugehört.
advice_android_chrome = Diese Seite in Chrome öffnen: ab Version 121 und ab Android 12.
advice_linux_unsafe = chrome://flags öffnen, „Unsafe WebGPU Support“ und „Vulkan“ einschalten und den Browser neu
    starten.
advice_linux_vulkaninfo = Prüfen, ob ein Vulkan-Treiber installiert ist: Der Befehl vulkaninfo listet die GPU auf.
advice_linux_firefox = about:config öffnen, dom.webgpu.enabled auf true setzen und neu starten; in Firefox Nightly
    ist es an.
advice_linux_firefox_chrome = Oder diese Seite in Chrome öffnen, mit „Unsafe WebGPU Support“ und „Vulkan“ in
    chrome://flags.
advice_chrome_113 = Den Browser aktualisieren: WebGPU ist seit Version 113 an. Dann diese Seite neu laden.
advice_firefox_141 = Firefox aktualisieren: WebGPU ist seit Version 141 an. Erscheint dieser Hinweis weiter, den
    Grafiktreiber aktualisieren.
advice_firefox_145 = Firefox aktualisieren: Auf Macs mit Apple-Chips ist WebGPU seit Version 145 an.
advice_old_mac = Auf einem älteren Mac diese Seite in Chrome oder Edge öffnen.
advice_safari_26 = Auf Safari 26 aktualisieren, das mit macOS 26 kommt: Ab dort ist WebGPU an.
advice_old_macos = Unter einem älteren macOS diese Seite in Chrome oder Edge öffnen.
advice_current = Diese Seite in einem aktuellen Chrome, Edge, Firefox oder Safari öffnen.
advice_acceleration_too = Unter Einstellungen → System die Grafikbeschleunigung einschalten.
advice_windows_faster = Unter Einstellungen → System → Anzeige → Grafik den Browser hinzufügen, „Hohe Leistung“ wählen
    und den Browser neu starten.
advice_mac_faster = In den Systemeinstellungen unter Batterie → Optionen „Automatischer Wechsel der Grafikmodi“
    ausschalten und den Browser neu starten.
advice_linux_faster = Den Browser schließen und auf der anderen GPU starten: mit DRI_PRIME=1 vor seinem Befehl, mit
    dem Treiber von NVIDIA über prime-run.
advice_force_faster = Oder chrome://flags öffnen, „Force High Performance GPU“ einschalten und den Browser neu starten.
