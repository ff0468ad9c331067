const STORED = 'palette';
/** How many are remembered. */
const MAX = 50;

/** What was chosen in the palette of this browser, the latest first: kinds and IDs, no text of an incident. */
function recent(): string[] {
  try {
    const list: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]');
    return Array.isArray(list) ? list.filter((id): id is string => typeof id === 'string').slice(0, MAX) : [];
  } catch {
    return [];
  }
}

export function remember(id: string): void {
  localStorage.setItem(STORED, JSON.stringify([id, ...recent().filter((each) => each !== id)].slice(0, MAX)));
}

/** How well a name fits a text: it begins with it, a word of it does, or it only has it. */
function fit(name: string, text: string): number {
  const at = name.toLowerCase().indexOf(text);
  return at === 0 ? 0 : at > 0 && name.charAt(at - 1) === ' ' ? 1 : 2;
}

/** Those that fit best first, and of these what was chosen latest. */
export function ranked<Entry extends { id: string; name: string }>(entries: readonly Entry[], text: string): Entry[] {
  const chosen = recent();
  const searched = text.trim().toLowerCase();
  const rank = ({ id }: Entry) => (chosen.includes(id) ? chosen.indexOf(id) : MAX);
  return entries.toSorted(
    (a, b) => (searched === '' ? 0 : fit(a.name, searched) - fit(b.name, searched)) || rank(a) - rank(b),
  );
}
