/** Checks that relative links in Markdown files point to existing files and headings, and that quoted files match. */
import { ROOT } from '../../environment.ts';
import { inspectDocuments } from './inspect-documents.ts';

const { documents, links, quotes, problems } = inspectDocuments(ROOT);
// Finding no links means that the check itself is broken.
if (links === 0) problems.push('no link was found');
for (const problem of problems) console.error(problem);
console.log(`${documents} documents, ${links} relative links, ${quotes} quoted files, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;
