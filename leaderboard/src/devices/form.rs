//! The form of a device, from its operating system, the name of its GPU, and its battery.

use results::RunRecord;
use results::api::DeviceForm;

use super::{DeviceIdentity, look_up};

/// Returns the form of a record's device. Browsers hide much, so many laptops count as desktops.
pub fn form_of(record: &RunRecord, identity: &DeviceIdentity) -> DeviceForm {
    let client = &record.provenance.client;
    let known = look_up(&identity.label).and_then(|(device, _)| device.form);
    match known {
        _ if matches!(client.system(), "Android" | "iOS") => DeviceForm::Phone,
        Some(form) => form,
        None if is_laptop_part(&identity.label) || client.has_battery == Some(true) => DeviceForm::Laptop,
        None => DeviceForm::Desktop,
    }
}

/// Returns true for names such as `RTX 4090 Laptop GPU`, `GTX 1060 with Max-Q Design`, `MX150`, `Arc A370M` and
/// `Radeon RX 6800S`.
fn is_laptop_part(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `RTX PRO 6000 Max-Q Workstation Edition` is a card for desktops.
    let is_named = ["laptop", "mobile"].iter().any(|word| name.contains(word))
        || (name.contains("max-q") && !name.contains("workstation"));
    let is_number = |digits: &str| digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_model = |word: &str| {
        let mobile = word.strip_suffix('m').map(|rest| rest.trim_start_matches('a'));
        let of_radeon = word.strip_suffix('s').filter(|_| name.contains("radeon"));
        [word.strip_prefix("mx"), mobile, of_radeon].into_iter().flatten().any(is_number)
    };
    is_named || name.split_whitespace().any(is_model)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{claimed, in_browser, native, with_peak};
    use super::*;

    fn form(record: &RunRecord) -> DeviceForm {
        form_of(record, &DeviceIdentity::of(record))
    }

    /// Returns the record of a GPU that is not too slow for its name.
    fn as_fast_as_published(name: &str) -> RunRecord {
        let published = look_up(name).and_then(|(device, _)| device.flops_per_second);
        with_peak(native(name, ""), published.unwrap_or(1e13))
    }

    #[test]
    fn name_of_the_gpu_tells_laptops_and_servers() {
        let named = |name| form(&as_fast_as_published(name)).name();
        for (names, expected) in [
            ("NVIDIA GeForce RTX 4090 Laptop GPU;RTX 3070 Mobile;GeForce GTX 1060 with Max-Q Design", "laptop"),
            ("NVIDIA GeForce MX150;AMD Radeon(TM) 780M;AMD Radeon RX 7600M XT;Intel(R) Arc(TM) A370M", "laptop"),
            ("AMD Radeon RX 6800S;NVIDIA GeForce RTX 9070 Laptop GPU", "laptop"),
            ("NVIDIA GeForce RTX 4090;RTX PRO 6000 Blackwell Max-Q;Apple M3;Example GPU 9000", "desktop"),
            ("NVIDIA H200;Tesla T4;NVIDIA A100-SXM4-40GB;NVIDIA L40S;AMD Instinct MI300X", "server"),
        ] {
            for name in names.split(';') {
                assert_eq!(named(name), expected, "{name}");
            }
        }
        assert_eq!(form(&claimed(in_browser("nvidia", "lovelace"), "RTX 4090 laptop")), DeviceForm::Laptop);
    }

    #[test]
    fn system_tells_phones_and_a_battery_tells_laptops() {
        let on = |system: &str, name, has_battery| {
            let mut record = as_fast_as_published(name);
            record.provenance.client.operating_system = system.to_owned();
            record.provenance.client.has_battery = has_battery;
            form(&record).name()
        };
        assert_eq!(on("Android", "Adreno (TM) 750", Some(true)), "phone");
        assert_eq!(on("iOS", "Apple M3", None), "phone");
        assert_eq!(on("macOS", "Apple M3", Some(true)), "laptop");
        assert_eq!(on("macOS", "Apple M3", Some(false)), "desktop");
        assert_eq!(on("Linux", "NVIDIA H200", Some(true)), "server");
    }
}
