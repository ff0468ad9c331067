/** @returns the changes that no code span in the unreleased section of a changelog is */
export function unnamedChanges(changes: readonly string[], changelog: string): string[] {
  const section = changelog.split(/^## /m).find((text) => text.startsWith('Unreleased\n')) ?? '';
  const spans = Array.from(section.matchAll(/`([^`]+)`/g), ([, span = '']) => span.replaceAll(/\s+/g, ' '));
  return changes.filter((change) => !spans.includes(change));
}
