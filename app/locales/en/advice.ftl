### What to do without WebGPU, or with a software adapter.

advice_insecure = Browsers offer WebGPU only to pages that are loaded over a secure connection.
advice_no_interface = This browser does not offer WebGPU, which the benchmark needs to reach your GPU.
advice_no_adapter = This browser supports WebGPU, but found no GPU that it may use.
advice_open_securely = Open this page with https:// in front, or on this machine as http://localhost or
    http://127.0.0.1.
advice_native = Still not working? The native-runner program trains the same networks without a browser.
advice_linux_flags = Chrome on Linux silently uses this adapter if it does not trust the driver, as with many NVIDIA
    drivers: open chrome://flags, turn on “Vulkan” and “Unsafe WebGPU Support”, and restart the browser.
advice_linux_check = Check chrome://gpu: “WebGPU” and “Vulkan” should be “Hardware accelerated” or “Enabled”.
advice_acceleration = In Settings → System, turn on “Use graphics acceleration when available” and restart the
    browser.
advice_driver_blocked = Update the graphics driver; chrome://gpu shows whether the browser blocks the current one.
advice_firefox_support = Update the graphics driver; about:support lists the adapters that Firefox finds, and
    why it rejects one.
advice_update_system = Update the operating system, which includes the graphics driver.
advice_two_gpus = Two GPUs? A browser offers only one of them to pages: choose it in the system's graphics settings.
advice_native_adapter = native-runner --adapter discrete uses the GPU, or reports that there is none.
advice_ios_26 = Update to iOS or iPadOS 26, which turns on WebGPU in Safari and all other browsers.
advice_ios_18 = On iOS 18: Settings → Apps → Safari → Advanced → Feature Flags → WebGPU.
advice_android_121 = Update the browser: Chrome supports WebGPU since version 121, on Android 12 and newer.
advice_android_old_chips = Older graphics chips are not supported; chrome://gpu shows whether yours is.
advice_android_chrome = Open this page in Chrome: version 121 or newer, on Android 12 or newer.
advice_linux_unsafe = Open chrome://flags, turn on “Unsafe WebGPU Support” and “Vulkan”, and restart the browser.
advice_linux_vulkaninfo = Check that a Vulkan driver is installed: the command vulkaninfo lists your GPU.
advice_linux_firefox = Open about:config, set dom.webgpu.enabled to true and restart; Firefox Nightly has it on by
    default.
advice_linux_firefox_chrome = Or open this page in Chrome, with “Unsafe WebGPU Support” and “Vulkan” turned on in
    chrome://flags.
advice_chrome_113 = Update the browser: WebGPU is on by default since version 113. Then reload this page.
advice_firefox_141 = Update Firefox: WebGPU is on by default since version 141. Then update the graphics driver if
    this page still appears.
advice_firefox_145 = Update Firefox: WebGPU is on by default since version 145 on Macs with Apple silicon.
advice_old_mac = On an older Mac, open this page in Chrome or Edge.
advice_safari_26 = Update to Safari 26, which is part of macOS 26 and has WebGPU on by default.
advice_old_macos = On an older macOS, open this page in Chrome or Edge.
advice_current = Open this page in a current Chrome, Edge, Firefox or Safari.
advice_acceleration_too = In Settings → System, turn on “Use graphics acceleration when available”.
advice_windows_faster = In Settings → System → Display → Graphics, add the browser, choose “High performance” and
    restart the browser.
advice_mac_faster = In System Settings → Battery → Options, turn off “Automatic graphics switching” and restart the
    browser.
advice_linux_faster = Close the browser and start it on the other GPU: DRI_PRIME=1 before its command, or prime-run with
    NVIDIA's driver.
advice_force_faster = Or open chrome://flags, turn on “Force High Performance GPU” and restart the browser.
