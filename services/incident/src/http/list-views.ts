import type { MrrProjection } from '../domain/exchange.ts';
import type { StatusCounts } from '../domain/list-statuses.ts';

export const mrrView = ({ currency, mode, state, supported }: MrrProjection) => ({
  mrr_currency: currency,
  mrr_conversion_mode: mode,
  mrr_projection_state: state,
  supported_mrr_currencies: supported,
});

export const collectionCountsView = ({ matched, all, ongoing, byStatus }: StatusCounts) => ({
  matched,
  all,
  ongoing,
  by_status: byStatus,
});
