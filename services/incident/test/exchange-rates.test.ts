import { describe, expect, test } from '@jest/globals';
import { conversions, mrrProjection } from '../src/configuration/domain/exchange-rates.ts';

const NOW = '2026-11-20T12:00:00.000Z';
const rate = (value: number, asOf = NOW) => ({ rate: value, asOf });

describe('conversions', () => {
  const factors = (reporting: string, rates: Record<string, number>) =>
    Object.fromEntries(
      conversions(reporting, new Map(Object.entries(rates).map(([currency, value]) => [currency, rate(value)]))).map(
        ({ currency, factor }) => [currency, Number(factor)],
      ),
    );

  test('convert minor units to minor units by the rate', () => {
    expect(factors('USD', { EUR: 1.1, JPY: 0.006, KWD: 3.25 })).toEqual({ USD: 1, EUR: 1.1, JPY: 0.6, KWD: 0.325 });
    expect(factors('JPY', { USD: 150 })).toEqual({ JPY: 1, USD: 1.5 });
  });

  test('are exact decimals for very small and very large rates', () => {
    const rates = new Map([
      ['EUR', rate(1e-7)],
      ['GBP', rate(1.5e21)],
    ]);
    expect(conversions('JPY', rates).map(({ factor }) => factor)).toEqual(['1', '1e-9', '1.5e19']);
  });

  test('have the factor 1 for the reporting currency, even if a rate is configured', () => {
    expect(factors('USD', { USD: 2 })).toEqual({ USD: 1 });
  });
});

describe('the projection', () => {
  const state = (rates: Record<string, ReturnType<typeof rate>>, seen: string[] = []) => {
    const projection = mrrProjection({
      reportingCurrency: 'USD',
      rates: new Map(Object.entries(rates)),
      seen,
      now: NOW,
    });
    return `${projection.state} ${projection.mode}`;
  };
  const dayAgo = '2026-11-19T12:00:00.000Z';
  const lessThanADayAgo = '2026-11-19T12:00:00.001Z';

  test('is unavailable without any rate', () => {
    expect(state({}, ['EUR'])).toBe('unavailable source_only');
  });

  test('is ready while every rate exists and is less than a day old', () => {
    expect(state({ EUR: rate(1, lessThanADayAgo) }, ['EUR', 'USD'])).toBe('ready normalized');
  });

  test('is stale if a rate is old or missing', () => {
    expect(state({ EUR: rate(1, dayAgo) })).toBe('stale normalized');
    expect(state({ EUR: rate(1) }, ['GBP'])).toBe('stale normalized');
  });

  test('needs no rate of the reporting currency', () => {
    expect(state({ USD: rate(1, dayAgo) }, ['USD'])).toBe('ready normalized');
  });
});
