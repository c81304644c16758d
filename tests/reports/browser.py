"""Pages in a real browser: Chromium without a window, driven by Selenium."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)


class Browser:
    """A browser, with the console messages and network requests of the pages it opened."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(
        self, page: Path, width: int = 1280, scheme: str = "light", height: int = 800
    ) -> None:
        """Open a page.

        Args:
            page: The file.
            width: Window width in CSS pixels; emulated, because headless windows have a minimum.
            scheme: The colour scheme that the reader's system prefers.
            height: Window height.
        """
        self.resize(width, height)
        self.prefer(scheme)
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(page.as_uri())

    def resize(self, width: int, height: int = 800) -> None:
        size = {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": False,
        }
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, scheme: str, media: str = "") -> None:
        """Emulate a reader's colour scheme, and a medium such as `print`."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        emulated = {"media": media, "features": [feature]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", emulated)

    def run(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.all(selector)]

    def wait(self, condition: str | Callable[[], bool]) -> None:
        """Wait until a script or a function returns a true value."""
        until = (lambda _: self.run(condition)) if isinstance(condition, str) else None
        WebDriverWait(self.driver, 20).until(until or (lambda _: condition()))

    def complaints(self) -> list[str]:
        """The console's warnings and errors since the page was opened."""
        time.sleep(0.2)
        log = self.driver.get_log("browser")
        return [
            line["message"] for line in log if line["level"] in ("WARNING", "SEVERE")
        ]

    def requests(self) -> set[str]:
        """The addresses requested since the page was opened."""
        events = [
            json.loads(line["message"]) for line in self.driver.get_log("performance")
        ]
        messages = [event["message"] for event in events]
        return {
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        }


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium; skip the test if it or its driver is not installed.

    With HKCANTO_TEST_BROWSER=required, as in CI, the test fails instead.
    """
    driver_path = shutil.which("chromedriver")
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    if not driver_path or not browser_path:
        needed = "needs Chromium and its driver (Debian: chromium, chromium-driver)"
        if os.environ.get("HKCANTO_TEST_BROWSER") == "required":
            pytest.fail(needed)
        pytest.skip(needed)
    options = webdriver.ChromeOptions()
    options.binary_location = browser_path
    for flag in _FLAGS:
        options.add_argument(flag)
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
