// What the pages need beside Shiny: charts, and a word when the server is gone. No request leaves this machine.
"use strict";

(function () {
  let drawing = null;

  function vegaEmbed() {
    drawing = drawing || import("/vega.js").then(function () { return window.vegaEmbed; });
    return drawing;
  }

  class ChartBinding extends Shiny.OutputBinding {
    find(scope) {
      return $(scope).find(".safetab-chart");
    }

    renderValue(element, chart) {
      if (element.finalizeChart) {
        element.finalizeChart();
        element.finalizeChart = null;
      }
      if (!chart) {
        element.replaceChildren();
        return Promise.resolve();
      }
      // Drawn aside and then put in place, so that the page does not jump.
      const canvas = document.createElement("div");
      canvas.className = "safetab-canvas";
      element.replaceChildren(canvas);
      return vegaEmbed()
        .then(function (embed) { return embed(canvas, chart, { renderer: "svg", actions: false }); })
        .then(function (drawn) {
          element.finalizeChart = drawn.finalize;
          element.dataset.drawn = String(Number(element.dataset.drawn || "0") + 1);
        });
    }
  }

  Shiny.outputBindings.register(new ChartBinding(), "safetab.chart");

  // Fields of a plan: what is typed is sent when it is finished; the answer changes fields and what is beside them.
  let fields = null;
  let margins = null;
  let edits = 0;
  // The last edit of each field that no answer has seen yet.
  const unanswered = new Map();

  function isAhead(input) {
    return input.dataset.typing === "yes" || unanswered.has(input.id);
  }

  function showFields() {
    if (!fields) { return; }
    document.querySelectorAll(".plan-field").forEach(function (input) {
      // An answer to an earlier edit must not undo what somebody types meanwhile.
      if (isAhead(input)) { return; }
      const fault = fields.faults[input.id] || "";
      const value = fields.values[input.id];
      if (!fault && value !== undefined && input.value !== value) { input.value = value; }
      input.setAttribute("aria-invalid", fault ? "true" : "false");
      input.classList.toggle("given", fields.given.includes(input.id));
      const beside = document.getElementById(input.id + "-wrong");
      if (beside && beside.textContent !== fault) { beside.textContent = fault; }
    });
  }

  function showMargins() {
    Object.entries(margins || {}).forEach(function (pair) {
      const beside = document.getElementById(pair[0]);
      if (beside) { beside.textContent = pair[1]; }
    });
  }

  Shiny.addCustomMessageHandler("fields", function (message) {
    fields = message;
    unanswered.forEach(function (number, field) { if (number <= message.answered) { unanswered.delete(field); } });
    showFields();
  });
  Shiny.addCustomMessageHandler("margins", function (message) { margins = message; showMargins(); });

  $(document).on("input", ".plan-field", function (event) { event.target.dataset.typing = "yes"; });

  $(document).on("change", ".plan-field", function (event) {
    delete event.target.dataset.typing;
    edits += 1;
    unanswered.set(event.target.id, edits);
    const said = { field: event.target.id, text: event.target.value, number: edits };
    Shiny.setInputValue("edit", said, { priority: "event" });
  });

  // Typed and taken back: there is no change to send, but an answer may have passed by.
  $(document).on("focusout", ".plan-field", function (event) {
    delete event.target.dataset.typing;
    showFields();
  });

  $(document).on("click", "button.scenario", function (event) {
    const said = { what: event.target.dataset.what, number: Number(event.target.dataset.number) };
    Shiny.setInputValue("scenario", said, { priority: "event" });
  });

  // Fields that were just put on the page show what was said before.
  $(function () {
    new MutationObserver(function (changes) {
      if (changes.some(function (change) { return change.addedNodes.length && change.target.matches("#release_fields, #level_fields"); })) {
        showFields();
        showMargins();
      }
    }).observe(document.getElementById("contents"), { childList: true, subtree: true });
  });

  $(document).on("shiny:disconnected", function () {
    document.getElementById("stopped").hidden = false;
  });
})();
