import { defineConfig } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const starSelects = [
  // select('*'), first('t.*'), returning('*')
  'CallExpression[callee.property.name=/^(select|first|returning)$/] > Literal.arguments[value=/(^|[.])[*]$/]',
  // select() is select('*')
  "CallExpression[callee.property.name='select'][arguments.length=0]",
  // in raw SQL
  'Literal[value=/\\bselect\\s+(distinct\\s+)?(\\w+[.])?[*]/i]',
  'TemplateElement[value.raw=/\\bselect\\s+(distinct\\s+)?(\\w+[.])?[*]/i]',
];

const environment = 'Only config.ts and main.ts read the environment.';

/** Rules that need no types. Those that need them are in .oxlintrc.json, and run with the check of types. */
export default defineConfig(
  {
    ignores: ['**/node_modules/**', '.tocsin/**', 'coverage/**', '**/dist/**', '**/src/generated/**'],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strict, tseslint.configs.stylistic],
    plugins: { regexp },
    rules: {
      // Texts come from clients, and all requests wait for a match.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': 'error',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Rejects `Promise.withResolvers<void>()`.
      '@typescript-eslint/no-invalid-void-type': 'off',
      'no-console': 'error',
      'no-restricted-properties': ['error', { object: 'process', property: 'env', message: environment }],
      'no-restricted-imports': [
        'error',
        { paths: ['process', 'node:process'].map((name) => ({ name, importNames: ['env'], message: environment })) },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
        ...starSelects.map((selector) => ({ selector, message: 'Name the columns.' })),
      ],
    },
  },
  {
    // Entry points of processes, and code that runs only on a developer's machine.
    files: [
      '**/src/main.ts',
      'shared/tracing/src/start.ts',
      '**/src/config.ts',
      'infra/**/*.ts',
      'docs/**/*.ts',
      '**/test/**/*.ts',
      'shared/testing/**/*.ts',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-restricted-imports': 'off' },
  },
  {
    // Commands and examples print their results.
    files: ['infra/**/*.ts', 'docs/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    // Tests read responses of every shape; the app validates the shapes.
    files: [
      '**/test/**/*.ts',
      'infra/verification/{bench/growth,compat/checks,jest,systems}/**/*.ts',
      'shared/testing/**/*.ts',
    ],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      'regexp/no-super-linear-backtracking': 'off',
      'regexp/no-super-linear-move': 'off',
    },
  },
);
