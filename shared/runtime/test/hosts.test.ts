import { describe, expect, test } from '@jest/globals';
import { changeUrl, Hosts, urlsOfHosts } from '../src/index.ts';

test.each([
  ['postgres://u:p%40@one:5432/db?sslmode=require', ['postgres://u:p%40@one:5432/db?sslmode=require']],
  [
    'postgres://u:p%40@one:5432,two,[::1]:5433/db?sslmode=require',
    [
      'postgres://u:p%40@one:5432/db?sslmode=require',
      'postgres://u:p%40@two/db?sslmode=require',
      'postgres://u:p%40@[::1]:5433/db?sslmode=require',
    ],
  ],
  ['amqp://one,two', ['amqp://one', 'amqp://two']],
  ['amqp://u,v:p,q@one,two/', ['amqp://u,v:p,q@one/', 'amqp://u,v:p,q@two/']],
  ['postgres:///db?host=/run/postgresql', ['postgres:///db?host=/run/postgresql']],
  ['no URL', ['no URL']],
])('%s has the URLs %j', (url, urls) => {
  expect(urlsOfHosts(url)).toEqual(urls);
});

test('what the hosts share is changed for all of them', () => {
  const withUser = (url: string) =>
    changeUrl(url, (parsed) => Object.assign(parsed, { username: 'me', password: '$&' }));
  expect(withUser('amqp://one:1,two:2/x?heartbeat=5')).toBe('amqp://me:$&@one:1,two:2/x?heartbeat=5');
  expect(withUser('amqp://a:b@one/x')).toBe('amqp://me:$&@one/x');
});

describe('hosts', () => {
  const failing = (names: readonly string[]) => {
    const tried: string[] = [];
    return {
      tried,
      open: async (host: string) => {
        tried.push(host);
        if (names.includes(host)) throw new Error(host);
        return host;
      },
    };
  };

  test('are tried in turn from the one that was connected last', async () => {
    const hosts = new Hosts(['a', 'b', 'c']);
    const first = failing(['a']);
    expect(await hosts.connect(first.open)).toBe('b');
    const second = failing(['b', 'c']);
    expect(await hosts.connect(second.open)).toBe('a');
    expect([...first.tried, ...second.tried]).toEqual(['a', 'b', 'b', 'c', 'a']);
  });

  test('that all fail give the error of the last one, once each', async () => {
    const { tried, open } = failing(['a', 'b']);
    await expect(new Hosts(['a', 'b']).connect(open)).rejects.toThrow('b');
    expect(tried).toEqual(['a', 'b']);
  });

  test('are not tried after an error that would be the same', async () => {
    const { tried, open } = failing(['a', 'b']);
    await expect(new Hosts(['a', 'b'], { isFinal: () => true }).connect(open)).rejects.toThrow('a');
    expect(tried).toEqual(['a']);
  });

  test('that several connect to at once are left once', () => {
    const hosts = new Hosts(['a', 'b', 'c']);
    hosts.leave('a');
    hosts.leave('a');
    expect(hosts.current).toBe('b');
  });
});
