### What to do without WebGPU, or with a software adapter.

advice_insecure = Browsers offer WebGPU only to pages that are loaded over a secure connection.
advice_no_interface = This browser does not offer WebGPU, which the benchmark needs to reach your GPU.
advice_no_adapter = This browser supports WebGPU, but found no GPU that it may use.
advice_open_securely = Open this page with https:// in front, or on this machine as http://localhost or
    http://127.0.0.1.
advice_native = Still not working? The native-runner program trains the same networks without a browser; with
    --adapter discrete, it uses the graphics card.
advice_dated = { $step } (As of { $month })
advice_acceleration = In Settings → System, turn on “Use graphics acceleration when available” and restart the
    browser.
advice_driver_blocked = Update the graphics driver; chrome://gpu shows whether the browser blocks the current one.
advice_firefox_support = Update the graphics driver; about:support lists the adapters that Firefox finds, and
    why it rejects one.
advice_update_system = Update the operating system, which includes the graphics driver.
advice_two_gpus = Two GPUs? A browser offers only one of them to pages: choose it in the system's graphics settings.
advice_update = Update the browser and the system: WebGPU is on by default since { $version }.
advice_ios_18 = On iOS 18: Settings → Apps → Safari → Advanced → Feature Flags → WebGPU.
advice_linux_unsafe = Another GPU or driver? Open chrome://flags, turn on “Unsafe WebGPU Support” and “Vulkan”, and
    restart the browser.
advice_linux_vulkaninfo = Check that a Vulkan driver is installed: the command vulkaninfo lists your GPU.
advice_linux_firefox = Open about:config, set dom.webgpu.enabled to true and restart; Firefox Nightly has it on by
    default.
advice_chrome = Open this page in Chrome or Edge.
advice_current = Open this page in a current Chrome, Edge, Firefox or Safari.
advice_windows_faster = In Settings → System → Display → Graphics, add the browser, choose “High performance” and
    restart the browser.
advice_mac_faster = In System Settings → Battery → Options, turn off “Automatic graphics switching” and restart the
    browser.
advice_linux_faster = Close the browser and start it on the other GPU: DRI_PRIME=1 before its command, or prime-run with
    NVIDIA's driver.
advice_force_faster = Or open chrome://flags, turn on “Force High Performance GPU” and restart the browser.
