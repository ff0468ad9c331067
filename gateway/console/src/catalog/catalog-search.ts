/** The list that is shown, as the address has it: services, unless it says teams. */
export interface CatalogSearch {
  tab?: 'teams';
  /** It owns the services. */
  team?: number;
}

/** Anybody may write an address: what it does not understand is left out. */
export const readCatalogSearch = ({ tab, team }: Record<string, unknown>): CatalogSearch => ({
  ...(tab === 'teams' && { tab }),
  ...(typeof team === 'number' && { team }),
});
