//! Browser and system family from the `User-Agent`, for a person's own list of devices. A guess for
//! display only: nothing is decided by it.

/// The families of browser and system.
#[must_use]
pub fn families(user_agent: &str) -> (&'static str, &'static str) {
    // Order matters: each browser also names the ones it descends from.
    const BROWSERS: [(&str, &str); 9] = [
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser", "Samsung Internet"),
        ("Firefox", "Firefox"),
        ("FxiOS", "Firefox"),
        ("CriOS", "Chrome"),
        ("Chrome", "Chrome"),
        ("Safari", "Safari"),
        ("curl", "curl"),
    ];
    const SYSTEMS: [(&str, &str); 7] = [
        ("iPhone", "iOS"),
        ("iPad", "iPadOS"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let find = |list: &[(&str, &'static str)]| {
        list.iter().find(|(mark, _)| user_agent.contains(mark)).map_or("unknown", |(_, family)| family)
    };
    (find(&BROWSERS), find(&SYSTEMS))
}
