import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from '../installation/environment.ts';

/**
 * A file by hand with generated blocks: the lines between `# generated: <name>` and `# end of what is generated`. A block
 * is indented as its first marker is.
 */
export const fileWithBlocks = (file: string, blocks: Readonly<Record<string, () => string | Promise<string>>>) => ({
  file,
  generate: async () => {
    const texts = new Map<string, string>();
    for (const [name, block] of Object.entries(blocks)) texts.set(name, await block());
    const names = new Set<string>();
    const text = (await readFile(path.join(ROOT, file), 'utf8')).replaceAll(
      /^( *)# generated: (.+)\n(?:.*\n)*? *# end of what is generated$/gm,
      (_, indent: string, name: string) => {
        const block = texts.get(name);
        if (block === undefined) throw new Error(`there is no block ${name}`);
        names.add(name);
        const lines = block.trimEnd().split('\n');
        return [`# generated: ${name}`, ...lines, '# end of what is generated']
          .map((line) => (line === '' ? '' : indent + line))
          .join('\n');
      },
    );
    const missing = [...texts.keys()].filter((name) => !names.has(name));
    if (missing.length > 0) throw new Error(`it has no block ${missing.join()}`);
    return text;
  },
});
