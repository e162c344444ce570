// Keeps the newest question at the top of the chat while its answer arrives, so that the first line of the
// answer is what is seen; stops as soon as the reader scrolls.
(() => {
  const follow = (chat) => {
    let questions = chat.querySelectorAll(".user").length;
    let following = false;
    const stop = () => { following = false; };
    for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      chat.addEventListener(event, stop, { passive: true });
    }
    new MutationObserver(() => {
      const found = chat.querySelectorAll(".user");
      if (found.length > questions) following = true;
      questions = found.length;
      if (!following || questions === 0) return;
      const last = found[questions - 1];
      let box = last.parentElement;
      while (box && box !== chat && box.scrollHeight <= box.clientHeight + 1) box = box.parentElement;
      if (!box || box === chat) return;
      const offset = last.getBoundingClientRect().top - box.getBoundingClientRect().top;
      box.scrollTop += offset - 8;
    }).observe(chat, { childList: true, subtree: true, characterData: true });
  };
  const watch = () => {
    const chat = document.getElementById("chat");
    if (chat) follow(chat);
    else setTimeout(watch, 200);
  };
  watch();
})();
