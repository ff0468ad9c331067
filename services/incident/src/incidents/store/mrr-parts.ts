import { byCodePoints } from '../../shared/domain/compare-text.ts';

/** An incident's monthly recurring revenue at stake, as received. A currency may occur several times. */
export type Mrr = readonly { currency: string; amount_minor: number }[];

/** A row of `incident_mrr` without its incident. Amounts are whole numbers of any size, as text. */
export interface MrrPart {
  currencies: string;
  currency: string;
  amount_minor: string;
  total_minor: string;
}

/** Replaces a set of more currencies than fit into an index entry. */
export const TOO_MANY = '*';
const MAX_CURRENCIES = 100;

/** Splits revenue by currency: one part for each currency with a positive amount, or one part of 0 if there is none. */
export function mrrParts(mrr: Mrr): MrrPart[] {
  const amounts = new Map<string, bigint>();
  for (const { currency, amount_minor } of mrr) {
    amounts.set(currency, (amounts.get(currency) ?? 0n) + BigInt(amount_minor));
  }
  if (amounts.size > MAX_CURRENCIES) return [emptyPart(TOO_MANY)];
  const sorted = [...amounts].sort(([a], [b]) => byCodePoints(a, b));
  const adding = sorted.filter(([, amount]) => amount > 0n);
  const currencies = writeCurrencies({
    adding: adding.map(([currency]) => currency),
    idle: sorted.filter(([, amount]) => amount === 0n).map(([currency]) => currency),
  });
  const total = adding.reduce((sum, [, amount]) => sum + amount, 0n);
  const parts = adding.map(([currency, amount]) => ({
    currencies,
    currency,
    amount_minor: String(amount),
    total_minor: String(total),
  }));
  return parts.length === 0 ? [emptyPart(currencies)] : parts;
}

const emptyPart = (currencies: string): MrrPart => ({ currencies, currency: '', amount_minor: '0', total_minor: '0' });

/** The currencies of an incident's revenue, sorted. */
export interface Currencies {
  /** Those with a positive amount. */
  adding: string[];
  /** Those with an amount of 0. */
  idle: string[];
}

/** In the form of the column `currencies`: `EUR USD/GBP`. */
const writeCurrencies = ({ adding, idle }: Currencies) =>
  `${adding.join(' ')}${idle.length === 0 ? '' : `/${idle.join(' ')}`}`;

export function readCurrencies(currencies: string): Currencies {
  const [adding = '', idle = ''] = currencies.split('/');
  return { adding: splitCurrencies(adding), idle: splitCurrencies(idle) };
}

const splitCurrencies = (currencies: string) => currencies.split(' ').filter((currency) => currency !== '');
