/** Returns invalid JSON documents of at most this many bytes that are as expensive to refuse as possible. */
export function hostileDocuments(bytes: number): string[] {
  const fill = (start: string, part: string, end: string) =>
    start + part.repeat(Math.floor((bytes - start.length - end.length) / part.length)) + end;
  const keys = Array.from({ length: 90_000 }, (_, index) => `"k${index}":0`).join(',');
  return [
    `{${keys}}`,
    `{"title":"t","custom_field_values":{${keys}}}`,
    fill('{"title":"t","regions":[', '0,', '0]}'),
    fill('{"title":"t","custom_field_values":[{"field_id":1,"value":[', '0,', '0]}]}'),
    fill('{"title":"t","incident_responders":[', '"",', '""]}'),
    fill('', '[', ''),
    fill('', '{"a":', ''),
    `{"title":"t","regions":${'['.repeat(bytes / 2 - 20)}${']'.repeat(bytes / 2 - 20)}}`,
    fill('', '{} ', '{}'),
    fill('', '1 ', '1'),
    fill('{"title":"', 'a', '"}'),
    fill('{"title":"', '\\u0001', '"}'),
    fill('{"', 'k', '":1}'),
    fill('{', '"title":"t",', '"title":5}'),
    fill('{"title":"t","x":1', '0', '}'),
    fill('{"title":"t"', ' ', '} x'),
  ];
}
