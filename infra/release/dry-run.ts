/**
 * `make release-dry-run`: builds everything that a release publishes and that this machine can build, into a folder with a
 * manifest. `.github/workflows/release.yml` runs the same for a tag, and publishes. The same sources make the same bytes,
 * but for the image.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ROOT } from '../installation/environment.ts';
import { ignoreMissing } from '../installation/missing-files.ts';
import { runScript } from '../installation/run-script.ts';
import { git } from '../verification/compat/baseline.ts';
import { chartArchive } from './chart-archive.ts';
import { releaseNotes } from './texts.ts';

const PACKAGES = ['@tocsin/cli', '@tocsin/events', '@tocsin/sdk'];
/** What the image installs. */
const IN_IMAGE = ['gateway', 'services', 'shared/tracing', 'shared/sdk', 'infra', 'infra/cli'];
const MANIFEST = 'manifest.json';

interface Manifest {
  version: string;
  commit: string;
  /** Whether the work tree differs from the commit. */
  changed: boolean;
  image?: { name: string; platform: string; bytes: number; user: string; labels: Record<string, string> };
  files: { name: string; bytes: number; sha256: string }[];
  left_out: { what: string; why: string }[];
}

const run = async (program: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { cwd: ROOT, maxBuffer: 64 * 1_048_576 })).stdout;

/** A folder of an earlier run is replaced; another one is refused. */
async function emptyFolder(folder: string): Promise<void> {
  const entries = (await readdir(folder).catch(ignoreMissing)) ?? [];
  if (entries.length > 0 && !entries.includes(MANIFEST))
    throw new Error(`${folder} has other files: name another folder`);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
}

/** The packages that an image has, on any platform, with their digests and licenses; the same text for the same sources. */
async function billOfMaterials(): Promise<string> {
  const workspaces = IN_IMAGE.flatMap((folder) => ['--workspace', folder]);
  const omitted = ['--package-lock-only', '--omit', 'dev'];
  const bill = JSON.parse(await run('npm', 'sbom', '--sbom-format', 'cyclonedx', ...omitted, ...workspaces)) as {
    serialNumber?: string;
    metadata: { component: { name: string }; timestamp?: string };
  };
  delete bill.serialNumber;
  delete bill.metadata.timestamp;
  // npm takes the name of the folder.
  bill.metadata.component.name = 'tocsin';
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** Why there can be no image here; undefined when there can. */
const missingEngine = async (): Promise<string | undefined> =>
  run('docker', 'info', '--format', '{{.ServerVersion}}').then(
    () => undefined,
    () => 'no Docker engine runs here',
  );

async function buildImage(folder: string, version: string, commit: string): Promise<Manifest['image']> {
  const name = `localhost/tocsin:${version}`;
  // The time of the image; the files in it have their times.
  const epoch = `SOURCE_DATE_EPOCH=${await git(ROOT, 'log', '-1', '--format=%ct')}`;
  const values = [`TOCSIN_COMMIT=${commit}`, epoch].flatMap((value) => ['--build-arg', value]);
  await run('docker', 'build', '-f', 'infra/Dockerfile', ...values, '-t', name, '.');
  const [details] = JSON.parse(await run('docker', 'image', 'inspect', name)) as [
    { Os: string; Architecture: string; Size: number; Config: { User: string; Labels: Record<string, string> } },
  ];
  const { Os, Architecture, Size: bytes, Config } = details;
  const archive = path.join(folder, `tocsin-image-${version}-${Architecture}.tar`);
  await run('docker', 'save', '--output', archive, name);
  await run('gzip', '-n', archive);
  return { name, platform: `${Os}/${Architecture}`, bytes, user: Config.User, labels: Config.Labels };
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function build(folder: string, withImage: boolean): Promise<Manifest> {
  await emptyFolder(folder);
  const { version } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const commit = await git(ROOT, 'rev-parse', 'HEAD');
  const changed = (await git(ROOT, 'status', '--porcelain')) !== '';

  await run('npm', 'pack', '--pack-destination', folder, ...PACKAGES.flatMap((name) => ['--workspace', name]));
  await writeFile(path.join(folder, `tocsin-chart-${version}.tgz`), chartArchive());
  await writeFile(path.join(folder, `tocsin-${version}.cdx.json`), await billOfMaterials());
  const notes = releaseNotes(await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8'), version);
  await writeFile(path.join(folder, 'notes.md'), notes);

  const leftOut = [
    { what: 'signatures and provenance', why: 'they name the workflow that built: release.yml makes them' },
  ];
  const why = withImage ? await missingEngine() : '--no-image was given';
  const image = why === undefined ? await buildImage(folder, version, commit) : undefined;
  if (why !== undefined) leftOut.push({ what: 'the image', why });
  else leftOut.push({ what: 'the image of other processors', why: 'release.yml builds amd64 and arm64' });

  const files: Manifest['files'] = [];
  for (const name of (await readdir(folder)).toSorted()) {
    const file = path.join(folder, name);
    files.push({ name, bytes: (await stat(file)).size, sha256: await digest(file) });
  }
  const sums = files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join('');
  await writeFile(path.join(folder, 'SHA256SUMS'), sums);
  const manifest = { version, commit, changed, ...(image !== undefined && { image }), files, left_out: leftOut };
  await writeFile(path.join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

await runScript(async () => {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'dist/release' }, 'no-image': { type: 'boolean', default: false } },
  });
  if (!existsSync(path.join(ROOT, 'node_modules'))) throw new Error('run make install first');
  const folder = path.resolve(ROOT, values.out);
  const { version, commit, changed, image, files, left_out } = await build(folder, !values['no-image']);
  const size = (bytes: number) => `${(bytes / 1_000_000).toFixed(2)} MB`.padStart(11);
  console.log(`Tocsin ${version} of ${commit.slice(0, 12)}${changed ? ' with changes' : ''}, in ${folder}`);
  for (const { name, bytes } of files) console.log(`${size(bytes)}  ${name}`);
  if (image !== undefined) console.log(`${size(image.bytes)}  ${image.name} (${image.platform}), unpacked`);
  for (const { what, why } of left_out) console.log(`left out: ${what}: ${why}`);
});
