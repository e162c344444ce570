// Brings a new question to the top of the chat, so that the first line of its answer is what is seen.
(() => {
  const watch = () => {
    const chat = document.getElementById("chat");
    if (!chat) return setTimeout(watch, 200);
    let seen = chat.querySelectorAll(".user").length;
    new MutationObserver(() => {
      const questions = chat.querySelectorAll(".user");
      if (questions.length > seen) {
        const last = questions[questions.length - 1];
        requestAnimationFrame(() => last.scrollIntoView({ block: "start", behavior: "smooth" }));
      }
      seen = questions.length;
    }).observe(chat, { childList: true, subtree: true });
  };
  watch();
})();
