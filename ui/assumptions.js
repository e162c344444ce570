// Runs beside the form of assumptions: sends the values that differ from those shown, and nothing else.
element.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.target;
  const slots = {};
  for (const field of form.querySelectorAll('[data-was]')) {
    if (field.value.trim() !== field.dataset.was) slots[field.name] = field.value.trim();
  }
  const none = form.querySelector('.none');
  none.hidden = Object.keys(slots).length > 0;
  if (none.hidden) trigger('submit', { slots, language: form.lang });
});
