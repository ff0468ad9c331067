import type { Instant } from '@tocsin/runtime';

/** How many units of the reporting currency one unit of another currency was worth at an instant. */
export interface ExchangeRate {
  rate: number;
  asOf: Instant;
}

export type ExchangeRates = ReadonlyMap<string, ExchangeRate>;

/** The factor, an exact decimal, that converts minor units of a currency to minor units of the reporting currency. */
export interface Conversion {
  currency: string;
  factor: string;
}

/** How lists convert revenue now, and whether the exchange rates are fresh (contract: Incident lists). */
export interface MrrProjection {
  currency: string;
  mode: 'normalized' | 'source_only';
  state: 'ready' | 'stale' | 'unavailable';
  supported: string[];
}

/** The number of decimals of each currency in ISO 4217 that does not have two. */
const DECIMALS = new Map(
  Object.entries({
    0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
    3: 'BHD IQD JOD KWD LYD OMR TND',
    4: 'CLF UYW',
  }).flatMap(([decimals, currencies]) =>
    currencies.split(' ').map((currency) => [currency, Number(decimals)] as const),
  ),
);
const decimalsOf = (currency: string) => DECIMALS.get(currency) ?? 2;

export function conversions(reportingCurrency: string, rates: ExchangeRates): Conversion[] {
  const others = [...rates].filter(([currency]) => currency !== reportingCurrency);
  return [
    { currency: reportingCurrency, factor: '1' },
    ...others.map(([currency, { rate }]) => ({
      currency,
      factor: shift(rate, decimalsOf(reportingCurrency) - decimalsOf(currency)),
    })),
  ];
}

/**
 * Multiplies by a power of ten, exactly: a product of binary fractions would be rounded. Postgres reads the notation.
 */
function shift(value: number, places: number): string {
  const [digits = '', exponent = '0'] = String(value).split('e');
  return `${digits}e${Number(exponent) + places}`;
}

const DAY = 86_400_000;

/** @param seen the currencies of all amounts in the workspace */
export function mrrProjection(options: {
  reportingCurrency: string;
  rates: ExchangeRates;
  seen: readonly string[];
  now: Instant;
}): MrrProjection {
  const { reportingCurrency, rates, seen, now } = options;
  const supported = [...new Set([reportingCurrency, ...rates.keys()])].sort();
  if (rates.size === 0) {
    return { currency: reportingCurrency, mode: 'source_only', state: 'unavailable', supported };
  }
  const isFresh = (currency: string) => {
    const rate = rates.get(currency);
    return rate !== undefined && Date.parse(now) - Date.parse(rate.asOf) < DAY;
  };
  const needed = [...rates.keys(), ...seen].filter((currency) => currency !== reportingCurrency);
  return {
    currency: reportingCurrency,
    mode: 'normalized',
    state: needed.every(isFresh) ? 'ready' : 'stale',
    supported,
  };
}
