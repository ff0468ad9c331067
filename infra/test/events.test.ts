import { describe, expect, test } from '@jest/globals';
import { envelope, eventData, type EventType } from '@tocsin/contracts';
import { EXAMPLES } from '../generate/event-examples.ts';

describe('the example of', () => {
  test.each(Object.keys(eventData) as EventType[])('%s is a valid message without unknown members', (type) => {
    const example = EXAMPLES[type];
    expect(envelope.strict().parse(example)).toEqual(example);
    expect(eventData[type].strict().parse(example.data)).toEqual(example.data);
  });
});
