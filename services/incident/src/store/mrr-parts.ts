import { byCodePoints } from '../domain/compare-text.ts';

/** What is told of an incident's monthly recurring revenue at stake. */
export type Mrr = readonly { currency: string; amount_minor: number }[];

/** A row of `incident_mrr` without its incident. Amounts are whole numbers, of any size. */
export interface MrrPart {
  currencies: string;
  currency: string;
  amount_minor: string;
  total_minor: string;
}

/** Stands for more currencies than an index entry has room for. */
export const MANY = '*';
const MANY_CURRENCIES = 100;

/** The parts of a sum: one for each currency that adds to it, and one of nothing where there is none. */
export function mrrParts(mrr: Mrr): MrrPart[] {
  const amounts = new Map<string, bigint>();
  for (const { currency, amount_minor } of mrr) {
    amounts.set(currency, (amounts.get(currency) ?? 0n) + BigInt(amount_minor));
  }
  if (amounts.size > MANY_CURRENCIES) return [nothing(MANY)];
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
  return parts.length === 0 ? [nothing(currencies)] : parts;
}

const nothing = (currencies: string): MrrPart => ({ currencies, currency: '', amount_minor: '0', total_minor: '0' });

/** The currencies of an incident, sorted: those that add to its sum, and those of which nothing is at stake. */
export interface Currencies {
  adding: string[];
  idle: string[];
}

/** As `currencies` holds them: `EUR USD/GBP`. */
const writeCurrencies = ({ adding, idle }: Currencies) =>
  `${adding.join(' ')}${idle.length === 0 ? '' : `/${idle.join(' ')}`}`;

export function readCurrencies(currencies: string): Currencies {
  const [adding = '', idle = ''] = currencies.split('/');
  return { adding: listed(adding), idle: listed(idle) };
}

const listed = (currencies: string) => currencies.split(' ').filter((currency) => currency !== '');
