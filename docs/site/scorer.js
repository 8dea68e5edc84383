// The order of search results. The names of calls, settings and error codes come first, notes and lists last.
var Scorer = {
  score: (item) => {
    const [page, title, , , score, , kind] = item;
    const query = (new URLSearchParams(window.location.search).get("q") || "").trim();
    if (kind === "index") {
      item[1] = `${title} > ${query}`;  // Sphinx shows the title of the page only
      return score + 100;
    }
    if (kind === "title") return score + 50 + (title.toLowerCase().endsWith(`> ${query.toLowerCase()}`) ? 20 : 0);
    return /^index$|^(notes|contribute)\/|^changelog|^performance-results|^hangs|calls\/index/.test(page) ? score - 20 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
