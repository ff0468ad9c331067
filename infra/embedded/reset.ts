import { describeStartFailure } from '@tocsin/runtime';
import { dataDirPath } from '../data-dir.ts';
import { environment } from '../environment.ts';
import { resetData } from './reset-data.ts';

try {
  const folder = dataDirPath(environment());
  const remaining = await resetData(folder);
  console.log(
    remaining.length === 0
      ? `removed ${folder}`
      : `removed the data in ${folder}; kept the folder, because it contains other files: ${remaining.join(', ')}`,
  );
} catch (error) {
  console.error(describeStartFailure(error));
  process.exitCode = 1;
}
