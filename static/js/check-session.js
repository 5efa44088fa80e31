// Answers a client's frame whether the sign-in in this browser is still the one that its session_state was
// made of (Session Management 1.0 section 3.2): "unchanged", "changed", or "error" where it cannot be told.
"use strict";

const name = `${document.currentScript.dataset.cookie}=`;

// Two cookies of one name are none, as they are to the provider.
const browserState = () => {
  const found = document.cookie.split("; ").filter((pair) => pair.startsWith(name));
  return found.length === 1 ? found[0].slice(name.length) : "";
};

// Where the browser keeps cookies from frames, "changed" would sign people out for nothing.
const isBlind = async () => document.hasStorageAccess !== undefined && !(await document.hasStorageAccess());

const hash = async (text) => {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
};

const judge = async (message, origin) => {
  const parts = typeof message === "string" ? /^([!-~]{1,255}) ([0-9a-f]{64})\.([0-9a-f]{32})$/.exec(message) : null;
  // Who asks shares the origin of the page around us; what was made for another is no use to it.
  const around = location.ancestorOrigins;
  if (parts === null || (around && around[0] !== origin) || !crypto.subtle) return "error";
  const [, client, given, salt] = parts;
  const state = browserState();
  if (state === "" && (await isBlind())) return "error";
  return (await hash(`${client} ${origin} ${state} ${salt}`)) === given ? "unchanged" : "changed";
};

addEventListener("message", async (event) => {
  // Whoever has no origin was given no state, and cannot be answered.
  if (event.source === null || event.origin === "null" || event.origin === "") return;
  event.source.postMessage(await judge(event.data, event.origin), event.origin);
});
