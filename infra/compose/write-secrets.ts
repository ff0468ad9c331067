import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '@tocsin/runtime';
import { brokerFiles, cacheFiles, installationSecrets } from '../installation/installation-secrets.ts';
import { keptSecrets } from '../installation/kept-secrets.ts';

/** The folder of the secrets that the others are made of; no other container mounts it. */
const KEPT = 'kept';

/**
 * Writes a folder for each container of docker-compose.yml with the secrets that it needs and no others: a file for
 * each setting, and the files that PostgreSQL, RabbitMQ and Redis read. Takes the secrets that `env` sets; generates
 * the others once and keeps them in the folder.
 * @throws ConfigError naming the setting that cannot be used
 */
export async function writeSecrets(folder: string, env: Environment): Promise<void> {
  const secrets = keptSecrets(path.join(folder, KEPT), env);
  const superuser = await secrets.password('POSTGRES_PASSWORD');
  const broker = await secrets.password('RABBITMQ_PASSWORD');
  const cache = await secrets.password('REDIS_PASSWORD');
  const { apps, databases, admin, definitions } = await installationSecrets(secrets, env, {
    DATABASE_URL: `postgres://postgres:${superuser}@postgres:5432/tocsin`,
    AMQP_URL: `amqp://tocsin:${broker}@rabbitmq:5672`,
    REDIS_URL: `redis://:${cache}@redis:6379`,
  });
  const files: Record<string, Record<string, string>> = {
    ...apps,
    migrate: { ...databases, DATABASE_URL: `postgres://postgres:${superuser}@postgres:5432/tocsin` },
    admin: { ...databases, ...admin },
    postgres: { password: superuser },
    rabbitmq: brokerFiles(definitions),
    redis: { ...cacheFiles(cache), password: cache },
  };
  for (const [container, contents] of Object.entries(files)) {
    for (const [name, content] of Object.entries(contents)) {
      // The server's user differs from image to image; nobody outside the container sees the folder.
      await writeAtomically(path.join(folder, container, name), content, 0o444);
    }
  }
}

/** A reader sees the old content or the new one, never a part. */
async function writeAtomically(file: string, content: string, mode: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.new`;
  await writeFile(draft, `${content}\n`, { mode, flush: true });
  await rename(draft, file);
}
