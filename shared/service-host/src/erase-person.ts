import type { PersonalDataRequest } from '@tocsin/schemas';

/** What names a person, and what stands in its place. */
export interface PersonText {
  /** Whether the whole value is the name or the address, or a name with the address behind it. */
  is: (value: string) => boolean;
  /** Whether a text contains the name or the address as words. */
  isIn: (text: string) => boolean;
  /** Patterns of `like`, in any case of letters, of texts that may contain them. */
  patterns: readonly string[];
  /** The same for texts in JSON. */
  jsonPatterns: readonly string[];
  /** Takes the place of the name and the address. */
  erased: string;
}

/** How an erased person is called from then on. */
export const erasedName = (userId: number): string => `Former user ${userId}`;

export function personText({ user_id: userId, names, emails }: PersonalDataRequest): PersonText {
  const terms = [...names, ...emails];
  const words = terms.map((term) => term.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)).join('|');
  const inText = new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${words})(?![\p{L}\p{N}])`, 'iu');
  const like = (text: string) => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return {
    is: (value) => {
      const lower = value.toLowerCase();
      return names.includes(value) || emails.some((email) => lower === email || lower.endsWith(` <${email}>`));
    },
    isIn: (text) => terms.length > 0 && inText.test(text),
    patterns: terms.map(like),
    jsonPatterns: terms.map((term) => like(JSON.stringify(term).slice(1, -1))),
    erased: erasedName(userId),
  };
}

/** Properties with texts that people write: they stay as they are. */
const TEXTS = new Set([
  ...['title', 'short_title', 'body', 'description', 'impact_summary', 'ai_context', 'last_event_summary'],
  ...['resolution_note', 'close_note', 'reopen_note', 'value', 'service', 'regions', 'tags', 'labels', 'slug'],
]);
/** Whose `name` may be that of a person, or of a key of theirs, by the property that has it. Other names are texts. */
const NAMED = new Set(['', 'user', 'users', 'member', 'members', 'api_key', 'key', 'created_by_key']);
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/g;

/** Replaces the values in JSON that are the person, and leaves all else as it is, numbers included. */
export function eraseInJson(json: string, person: PersonText): string {
  let property = '';
  /** The properties that have what the current one is in; an item of a list is in the property that has the list. */
  const parents: string[] = [];
  return json.replaceAll(TOKEN, (token: string, colon: string | undefined) => {
    if (colon !== undefined) property = JSON.parse(token.slice(0, -colon.length)) as string;
    else if (token === '{' || token === '[') parents.push(property);
    else if (token === '}' || token === ']') property = parents.pop() ?? '';
    else {
      const parent = parents.at(-1) ?? '';
      const isText = property === 'name' ? !NAMED.has(parent) : TEXTS.has(property) || parent === 'custom_fields';
      if (!isText && person.is(JSON.parse(token) as string)) return JSON.stringify(person.erased);
    }
    return token;
  });
}
