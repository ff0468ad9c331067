import { expect, test } from '@jest/globals';
import { TOO_MANY, mrrParts, readCurrencies } from '../src/incidents/store/mrr-parts.ts';

const nothing = { currency: '', amount_minor: '0', total_minor: '0' };

test('revenue has a part for each currency with a positive amount', () => {
  const parts = mrrParts([
    { currency: 'USD', amount_minor: Number.MAX_SAFE_INTEGER },
    { currency: 'JPY', amount_minor: 0 },
    { currency: 'EUR', amount_minor: 5 },
    { currency: 'USD', amount_minor: Number.MAX_SAFE_INTEGER },
  ]);
  const ofBoth = { currencies: 'EUR USD/JPY', total_minor: '18014398509481987' };
  expect(parts).toEqual([
    { ...ofBoth, currency: 'EUR', amount_minor: '5' },
    { ...ofBoth, currency: 'USD', amount_minor: '18014398509481982' },
  ]);
  expect(readCurrencies('EUR USD/JPY')).toEqual({ adding: ['EUR', 'USD'], idle: ['JPY'] });
});

test('no revenue is one part of 0', () => {
  expect(mrrParts([])).toEqual([{ currencies: '', ...nothing }]);
  expect(mrrParts([{ currency: 'USD', amount_minor: 0 }])).toEqual([{ currencies: '/USD', ...nothing }]);
  expect(readCurrencies('')).toEqual({ adding: [], idle: [] });
  expect(readCurrencies('/USD')).toEqual({ adding: [], idle: ['USD'] });
});

test('more currencies than fit into an index entry are replaced by one mark', () => {
  const letters = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  const mrr = letters.flatMap((one) => letters.map((other) => ({ currency: `X${one}${other}`, amount_minor: 1 })));
  expect(mrrParts(mrr)).toEqual([{ currencies: TOO_MANY, ...nothing }]);
  expect(mrrParts(mrr.slice(0, 100))).toHaveLength(100);
});
