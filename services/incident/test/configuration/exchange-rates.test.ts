import { describe, expect, test } from '@jest/globals';
import { conversions } from '../../src/configuration/domain/exchange-rates.ts';

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
