import { isPlaceholder, PLACEHOLDER, type Placeholder, PLACEHOLDERS } from '@tocsin/schemas/postmortem-template';

/** Bytes of UTF-8. */
export const MAX_TEMPLATE_BYTES = 65_536;
/** Of one placeholder: each is replaced by up to a few mebibytes. */
export const MAX_REPETITIONS = 3;

/** There, a text could end the tag or the attribute. */
const IN_TAG = /<[a-z/][^<>]*\{\{/i;

/** Says what is wrong with a template; undefined if nothing is. */
export function faultOf(template: string): string | undefined {
  if (Buffer.byteLength(template) > MAX_TEMPLATE_BYTES) return `Must be at most ${MAX_TEMPLATE_BYTES} bytes`;
  if (IN_TAG.test(template)) return 'Must not have a placeholder inside of an HTML tag';
  const counts = new Map<string, number>();
  for (const [placeholder, name = ''] of template.matchAll(PLACEHOLDER)) {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (!isPlaceholder(name)) {
      return `Must not have the placeholder ${placeholder.slice(0, 64)}, but only ${PLACEHOLDERS.map((each) => `{{${each}}}`).join(', ')}`;
    }
    if (count > MAX_REPETITIONS)
      return `Must not have the placeholder ${placeholder} more than ${MAX_REPETITIONS} times`;
  }
  return undefined;
}

/** Replaces the placeholders of a template that has no fault; each part is made once. */
export function fillTemplate(template: string, partOf: (placeholder: Placeholder) => string): string {
  const parts = new Map<string, string>();
  return template.replaceAll(PLACEHOLDER, (placeholder, name: string) => {
    if (!isPlaceholder(name)) return placeholder;
    const part = parts.get(name) ?? partOf(name);
    parts.set(name, part);
    return part;
  });
}
