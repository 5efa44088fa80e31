// Comfort for forms. Every page works without it.
"use strict";

// Show or hide what was typed. The button exists only where it can work.
for (const button of document.querySelectorAll(".reveal-button")) {
  const input = document.getElementById(button.getAttribute("aria-controls"));
  const status = document.createElement("span");
  status.className = "unseen";
  status.setAttribute("role", "status");
  button.after(status);

  const show = (shown, spoken) => {
    input.type = shown ? "text" : "password";
    button.textContent = shown ? button.dataset.hide : button.dataset.show;
    button.setAttribute("aria-label", shown ? button.dataset.hideLabel : button.dataset.showLabel);
    status.textContent = spoken ? (shown ? button.dataset.shown : button.dataset.hidden) : "";
  };
  button.addEventListener("click", () => show(input.type === "password", true));
  // Browsers keep what stood in visible fields, so it is hidden again before it is sent.
  input.form.addEventListener("submit", () => show(false, false));
  input.parentElement.classList.add("reveal-ready");
  button.hidden = false;
}

// A form is sent once: the button says so, and is itself again after ten seconds or on coming back.
const PATIENCE_MS = 10000;
for (const form of document.querySelectorAll("form[data-once]")) {
  const status = form.querySelector("[data-status]");
  let restore = null;

  form.addEventListener("submit", (event) => {
    if (restore) {
      event.preventDefault();
      return;
    }
    const button = event.submitter;
    const label = button && button.textContent;
    const timer = setTimeout(() => restore && restore(), PATIENCE_MS);
    if (button) {
      button.setAttribute("aria-disabled", "true");
      if (button.dataset.busy) {
        button.textContent = button.dataset.busy;
        if (status) status.textContent = button.dataset.busy;
      }
    }
    restore = () => {
      clearTimeout(timer);
      restore = null;
      if (button) {
        button.removeAttribute("aria-disabled");
        button.textContent = label;
      }
      if (status) status.textContent = "";
    };
  });
  addEventListener("pageshow", () => restore && restore());
}

// A press in the first half second was meant for what stood there before.
const GUARD_MS = 500;
for (const form of document.querySelectorAll("form[data-guard]")) {
  let shownAt = performance.now();
  const again = () => {
    shownAt = performance.now();
  };
  addEventListener("pageshow", again);
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && again());
  form.addEventListener(
    "click",
    (event) => {
      if (event.target.closest("button") && performance.now() - shownAt < GUARD_MS) {
        event.preventDefault();
        event.stopPropagation();
      }
    },
    true,
  );
}
