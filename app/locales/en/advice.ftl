### What to do without WebGPU, or with a software adapter.

advice_insecure = Browsers offer WebGPU only to pages that came over a secure connection.
advice_no_interface = This browser does not offer WebGPU, which the benchmark needs to reach your GPU.
advice_no_adapter = This browser knows WebGPU, but found no GPU that it may use.
advice_open_securely = Open this page with https:// in front, or on this machine as http://localhost or
    http://127.0.0.1.
advice_native = Nothing helps? The native-runner program trains the same networks without a browser.
advice_linux_flags = Chrome on Linux takes this adapter without a word where it does not trust the driver, as with
    many of NVIDIA's: open chrome://flags, turn on “Vulkan” and “Unsafe WebGPU Support”, and restart the browser.
advice_linux_check = Check chrome://gpu: behind “WebGPU” and “Vulkan” it should say “Hardware accelerated” or
    “Enabled”.
advice_acceleration = In Settings → System, turn on “Use graphics acceleration when available” and restart the
    browser.
advice_driver_blocked = Update the graphics driver; chrome://gpu says whether the browser blocks the present one.
advice_firefox_support = Update the graphics driver; about:support says which adapters Firefox sees, and why it
    leaves one out.
advice_update_system = Update the operating system, and with it the graphics driver.
advice_two_gpus = Two GPUs? A browser offers pages one of them: the system's graphics settings say which.
advice_native_adapter = native-runner --adapter discrete takes the GPU itself, or says that there is none.
advice_ios_26 = Update to iOS or iPadOS 26: WebGPU is on from there, in Safari and in every other browser.
advice_ios_18 = On iOS 18: Settings → Apps → Safari → Advanced → Feature Flags → WebGPU.
advice_android_121 = Update the browser: Chrome has WebGPU since version 121, on Android 12 and newer.
advice_android_old_chips = Older graphics chips are left out; chrome://gpu says whether yours is.
advice_android_chrome = Open this page in Chrome: version 121 or newer, on Android 12 or newer.
advice_linux_unsafe = Open chrome://flags, turn on “Unsafe WebGPU Support” and “Vulkan”, and restart the browser.
advice_linux_vulkaninfo = Check that a Vulkan driver is installed: the command vulkaninfo lists your GPU.
advice_linux_firefox = Open about:config, set dom.webgpu.enabled to true and restart; Firefox Nightly has it on.
advice_linux_firefox_chrome = Or open this page in Chrome, with “Unsafe WebGPU Support” and “Vulkan” turned on in
    chrome://flags.
advice_chrome_113 = Update the browser: WebGPU is on since version 113. Then reload this page.
advice_firefox_141 = Update Firefox: WebGPU is on since version 141. Then update the graphics driver if this page
    still appears.
advice_firefox_145 = Update Firefox: WebGPU is on since version 145 on Macs with Apple silicon.
advice_old_mac = On an older Mac, open this page in Chrome or Edge.
advice_safari_26 = Update to Safari 26, which comes with macOS 26: WebGPU is on from there.
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
