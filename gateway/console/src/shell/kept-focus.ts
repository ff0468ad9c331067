import { useEffect } from 'react';

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary';

/** Has the page; whoever has gone on to another one begins there. */
const PAGE = 'main';

/** An element that had the focus, or has what had it, and its place among those beside it. */
interface Place {
  element: Element;
  index: number;
}

const placesOf = (element: Element): Place[] => {
  const places: Place[] = [];
  for (let each: Element | null = element; each !== null && each !== document.body; each = each.parentElement)
    places.push({ element: each, index: [...(each.parentElement?.children ?? [])].indexOf(each) });
  return places;
};

/** What comes after what has gone: in the row that has taken its place, or else around it, at last the page itself. */
function nearest(places: readonly Place[]): HTMLElement | null {
  const at = places.findIndex(({ element }) => element.isConnected);
  const around = at === -1 ? [] : places.slice(at).map(({ element }) => element);
  const neighbours = around[0]?.children;
  const gone = places[at - 1];
  const next = neighbours?.[Math.min(gone?.index ?? 0, neighbours.length - 1)];
  for (const element of [...(next === undefined || around[0]?.id === PAGE ? [] : [next]), ...around]) {
    if (element.id === PAGE) break;
    const target = element.matches(FOCUSABLE) ? element : element.querySelector(FOCUSABLE);
    if (target instanceof HTMLElement && target.checkVisibility()) return target;
  }
  return document.getElementById(PAGE);
}

/** Gives the focus to what is nearest when what had it is taken out of the page: a row that is deleted, a button that is done. */
export function useKeptFocus(): void {
  useEffect(() => {
    let places: Place[] = [];
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof Element) places = placesOf(target);
    };
    let frame = 0;
    const keep = () => {
      const isLost = document.activeElement === document.body && places[0]?.element.isConnected === false;
      if (!isLost) return;
      const target = nearest(places);
      places = [];
      target?.focus({ preventScroll: true });
    };
    const observer = new MutationObserver(() => {
      // Whoever takes something away may give the focus to something else first, as a dialogue does.
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(keep);
    });
    observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener('focusin', onFocus);
    return () => {
      cancelAnimationFrame(frame);
      observer.disconnect();
      document.removeEventListener('focusin', onFocus);
    };
  }, []);
}
