/** What the page shows, as the address has it. */
export interface StatisticsSearch {
  span?: Span;
  severity?: string;
}

/** Days and the size of a bucket. */
export const SPANS = {
  '30': ['Last 30 days', 30, 'day'],
  '90': ['Last 90 days', 90, 'week'],
  '365': ['Last 12 months', 365, 'month'],
  '1095': ['Last 3 years', 1_095, 'month'],
} as const;
export type Span = keyof typeof SPANS;

export function readStatisticsSearch(search: Record<string, unknown>): StatisticsSearch {
  const span = String(search['span']);
  const { severity } = search;
  return {
    ...(span in SPANS && { span: span as Span }),
    ...(typeof severity === 'string' && severity !== '' && { severity }),
  };
}
