// Keys, and a page that follows the queue. Everything works without it: it only presses what is on the page.
"use strict";
(() => {
  const all = (what, within = document) => [...within.querySelectorAll(what)];
  const one = (what, within = document) => within.querySelector(what);
  const live = () => one("#live");
  const say = (text) => { one("#said").textContent = text; };
  const isTyping = (node) => Boolean(node && node.matches && node.matches("input:not([type=checkbox]), textarea, select"));

  // Keys -------------------------------------------------------------------------------------------------------------
  const kept = { get: (name) => { try { return localStorage.getItem(name); } catch { return null; } },
                 set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* not kept then */ } } };
  const help = one("#help");
  const keysOn = one("#keys-on");
  keysOn.checked = kept.get("keys") !== "off";
  keysOn.addEventListener("change", () => kept.set("keys", keysOn.checked ? "on" : "off"));
  for (const button of all("[data-opens=help]")) {
    button.hidden = false;
    button.addEventListener("click", () => help.showModal());
  }

  let at = -1;
  const rows = () => all("[data-row]");
  function mark(to, focus = true) {
    const list = rows();
    if (!list.length) return;
    at = Math.max(0, Math.min(list.length - 1, to));
    list.forEach((row, number) => row.classList.toggle("at", number === at));
    if (focus) one("a", list[at]).focus();
  }
  document.addEventListener("focusin", (event) => {
    const row = event.target.closest && event.target.closest("[data-row]");
    if (row) mark(rows().indexOf(row), false);
  });

  function press(key) {
    const found = all(`[data-key="${key}"]`);
    const node = found.find((each) => each.offsetParent !== null) || found[0];
    if (!node) return false;
    if (isTyping(node)) { node.focus(); node.select(); return true; }
    if (key === "a" && node.hasAttribute("data-many") && !chosen().length) {
      say("Select some with x first.");
      return true;
    }
    node.click();
    return true;
  }
  const GO = { i: "/", b: "/briefing", h: "/history", p: "/report" };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!keysOn.checked) return;
    const key = event.key;
    let done = true;
    if (key === "?") help.showModal();
    else if (key === "j" && rows().length) mark(at + 1);
    else if (key === "k" && rows().length) mark(at - 1);
    else if (key === "x" && rows()[at]) one("input", rows()[at]).click();
    else if (key === "u") done = pressUndo();
    else if (!press(key)) {
      done = key in GO;
      if (done) location.assign(GO[key]);
    }
    if (done) event.preventDefault();
  });
  function pressUndo() {
    const first = one("[data-notice] form[action='/undo'] button");
    if (first) { first.click(); return true; }
    if (press("u")) return true;
    say("There is nothing to undo on this page.");
    return true;
  }

  // What is selected ---------------------------------------------------------------------------------------------------
  const chosen = () => all("input[name=which]:checked");
  function count() {
    const told = one("#selected");
    if (told) told.textContent = chosen().length ? `${chosen().length} selected` : "";
  }
  document.addEventListener("change", (event) => { if (event.target.name === "which") count(); });
  count();

  // A chart as a picture -------------------------------------------------------------------------------------------------
  function offerPictures() {
    for (const button of all("[data-png]")) button.hidden = false;
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("[data-png]");
    if (!button) return;
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((made) => {
        const link = document.createElement("a");
        link.download = "lessonbook-report.png";
        link.href = URL.createObjectURL(made);
        link.click();
        URL.revokeObjectURL(link.href);
      });
    });
    image.src = button.dataset.png;
  });
  offerPictures();

  // A form goes once: a second press while it is on its way does nothing -------------------------------------------------
  let isSent = false;
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post") return;
    if (isSent) event.preventDefault();
    isSent = true;
  });
  addEventListener("pageshow", () => { isSent = false; });

  // A page that follows the queue ------------------------------------------------------------------------------------------
  const EVERY = 1500;
  const follows = ["inbox", "candidate", "report"];
  let state = live().dataset.state;
  const isBusy = () => isSent || help.open || isTyping(document.activeElement) || all("textarea").length > 0;

  async function look() {
    if (document.hidden || !follows.includes(live().dataset.page)) return;
    const answer = await fetch("/state", { headers: { accept: "application/json" } });
    if (!answer.ok) return;
    const now = (await answer.json()).state;
    if (now === state || isBusy()) return;
    await take(now);
  }
  async function take(now) {
    const answer = await fetch(location.href);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = fresh.querySelector("#live");
    if (!next || isBusy()) return;
    const old = live();
    if (old.dataset.page === "candidate" && (next.dataset.page !== "candidate" || answer.redirected)) {
      gone(next);
      state = now;
      return;
    }
    const changed = old.dataset.page === "candidate" && old.dataset.print !== next.dataset.print;
    const wanted = new Map(chosen().map((box) => [box.value.split("@")[0], box.value]));
    const focused = document.activeElement && document.activeElement.id;
    const link = document.activeElement && document.activeElement.getAttribute("href");
    const seen = one("#acknowledge", old);
    old.replaceWith(next);
    for (const box of all("input[name=which]")) box.checked = wanted.has(box.value.split("@")[0]);
    const tick = one("#acknowledge");
    if (tick && seen && !changed) tick.checked = seen.checked;
    const back = (focused && document.getElementById(focused)) || all("a", next).find((a) => link && a.getAttribute("href") === link);
    if (back) back.focus({ preventScroll: true });
    if (at >= 0) mark(at, false);
    const last = fresh.querySelector("#last");
    if (one("#last") && last) one("#last").replaceWith(last);
    count();
    offerPictures();
    state = next.dataset.state || now;
    document.title = fresh.title;
    if (changed) tell("Somebody changed this candidate while you looked: what stands here is new. Look at it again.");
    else if (old.dataset.page === "inbox" && next.dataset.marked === old.dataset.marked) say("The queue has changed.");
  }
  function gone(next) {
    const notice = next.querySelector("[data-notice] p");
    tell(notice ? notice.textContent : "This candidate does not wait any more.");
    for (const button of all(".decide button, .decide input")) button.disabled = true;
  }
  function tell(text) {
    const box = document.createElement("div");
    box.className = "notice";
    box.setAttribute("role", "alert");
    box.textContent = text;
    live().prepend(box);
    box.scrollIntoView({ block: "nearest" });
  }
  setTimeout(() => look().catch(() => {}), 200);
  setInterval(() => look().catch(() => {}), EVERY);
  addEventListener("visibilitychange", () => look().catch(() => {}));
})();
