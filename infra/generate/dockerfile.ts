import { APP_NAMES, APPS, SERVICE_NAMES } from '../apps.ts';
import { fileWithBlocks } from './blocks.ts';

const forEachService = (text: (folder: string, name: string) => string) => () =>
  SERVICE_NAMES.toSorted()
    .map((name) => text(APPS[name].folder, name))
    .join('\n');

export const dockerfile = fileWithBlocks('infra/Dockerfile', {
  'the targets': () => `# Targets: ${APP_NAMES.join(', ')}, jobs (migrations and administration).`,
  'the manifests of the services': forEachService((folder) => `COPY ${folder}/package.json ${folder}/`),
  'the services': forEachService(
    (folder, name) =>
      `FROM runtime AS ${name}\nCOPY ${folder} ${folder}\n` +
      `CMD ["node", "--import", "@tocsin/tracing", "${folder}/src/main.ts"]\n`,
  ),
  'the descriptions of the services': forEachService((folder) => `COPY ${folder}/openapi.json ${folder}/`),
});
