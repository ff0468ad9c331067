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

export default defineConfig(
  {
    ignores: ['**/node_modules/**', '.tocsin/**', 'coverage/**', '**/dist/**', '**/src/generated/**'],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    plugins: { regexp },
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './shared/events-client/tsconfig.json', './gateway/console/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // Texts come from clients, and all requests wait for a match.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': 'error',
      // Numbers in messages are unambiguous.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      // An async method may implement an interface without awaiting anything.
      '@typescript-eslint/require-await': 'off',
      // `return next(error)` ends a handler.
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      // Lengths are counted in code points.
      '@typescript-eslint/no-misused-spread': ['error', { allow: ['string'] }],
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      // Factories return closures, which have no `this` to lose; the few classes keep their state in #private fields.
      '@typescript-eslint/unbound-method': 'off',
      // Demands the `!` that another rule forbids.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // These three reject `Promise.withResolvers<void>()`, row types that a caller names, and zod objects without
      // properties.
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      '@typescript-eslint/no-generated-empty-object-type': 'off',
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
      // The rule does not see that a callback has set a variable.
      '@typescript-eslint/no-unnecessary-condition': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      'regexp/no-super-linear-backtracking': 'off',
      'regexp/no-super-linear-move': 'off',
      '@typescript-eslint/restrict-plus-operands': ['error', { allowAny: true }],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true, allowAny: true },
      ],
    },
  },
);
