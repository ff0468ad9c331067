/**
 * Checks that relative links in Markdown files point to existing files and headings, that quoted files match, and that
 * the files and functions which the overviews name exist, and the sections of the contract which comments name; and
 * that rooms and tables are named.
 */
import { ROOT } from '../../installation/environment.ts';
import { inspectDocuments } from './inspect-documents.ts';
import { inspectNames } from './inspect-names.ts';
import { inspectSections } from './inspect-sections.ts';
import { inspectRooms, inspectTables } from './inspect-unnamed.ts';

const OVERVIEWS = ['docs/architecture.md', 'CONTRIBUTING.md'];

const { documents, links, quotes, problems } = inspectDocuments(ROOT);
for (const overview of OVERVIEWS) problems.push(...inspectNames(ROOT, overview));
problems.push(...inspectSections(ROOT), ...inspectRooms(ROOT), ...inspectTables(ROOT));
// Finding no links means that the check itself is broken.
if (links === 0) problems.push('no link was found');
for (const problem of problems) console.error(problem);
console.log(`${documents} documents, ${links} relative links, ${quotes} quoted files, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
