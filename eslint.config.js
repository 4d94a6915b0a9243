import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import bannedWords from './tests/quality/lint/banned-words.js';
import { builtExpressions } from './tests/quality/lint/built-expressions.js';
import linearExpressions from './tests/quality/lint/linear-expressions.js';
import logStyle from './tests/quality/lint/log-style.js';
import ownFunctionLines from './tests/quality/lint/own-function-lines.js';

// Two of them run a command again, with the environment it had.
const envReaders = ['host/start/{config,environment}.ts', 'host/{watchdog-worker,runtime}.js', 'tests/**'];

export default tseslint.config(
  { ignores: ['node_modules/', '.cache/', 'data/', '**/built/', 'coverage/', 'tests/fixtures/breaches/'] },
  ...tseslint.configs.strict,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    plugins: {
      regexp,
      project: {
        rules: {
          'banned-words': bannedWords,
          'linear-expressions': linearExpressions,
          'log-style': logStyle,
          'own-function-lines': ownFunctionLines,
        },
      },
    },
    rules: {
      // Foreign text must never stop the event loop: each expression takes linear time.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'always' }],
      '@typescript-eslint/no-invalid-void-type': 'off',
      // Formatted at 120 columns, 300 lines as they were written before are about 370.
      'max-lines': ['error', { max: 380, skipComments: true, skipBlankLines: true }],
      'project/own-function-lines': ['error', { max: 60 }],
      'max-params': ['error', 3],
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: 'Take the time from the clock.',
        },
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: 'Take the time from the clock.' },
        {
          selector: "CallExpression[callee.object.name='URL'][callee.property.name='canParse']",
          message: 'Use isUrl of #plugin-api: Node 20 forgets letters such as ü.',
        },
        {
          selector: "CallExpression[callee.property.name='normalize'][arguments.0.value=/^NF/]",
          message: 'Use normalizeText of #plugin-api: normalize takes the square of the marks in a run.',
        },
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'Only host/start reads the environment.',
        },
      ],
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval'].map((name) => ({ name, message: 'Use the clock.' })),
      ],
    },
  },
  {
    files: ['host/**', 'plugins/**'],
    rules: {
      'project/banned-words': 'error',
      'project/log-style': 'error',
      'project/linear-expressions': ['error', builtExpressions],
    },
  },
  { files: [...envReaders, 'host/clock.ts'], rules: { 'no-restricted-syntax': 'off', 'no-restricted-globals': 'off' } },
  // In a visitor's browser there is no other clock than the browser's.
  {
    files: [
      'host/content/admin/browser/client/**',
      'plugins/svc/kit/browser/**',
      'plugins/svc/modules/*/browser/client/**',
    ],
    rules: {
      'no-restricted-syntax': 'off',
      'no-restricted-globals': ['error', 'process', 'Buffer', 'require', 'global'],
    },
  },
  {
    files: ['plugins/*/tests/**'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', name: 'test', package: 'node:test' }] },
      ],
    },
  },
  // The hook API's signatures are WordPress's: name, callback, priority, options.
  { files: ['host/hooks/**'], rules: { 'max-params': ['error', 4] } },
  // The contract names the arguments of a hook's callbacks (D24).
  { files: ['plugins/**/hooks.ts'], rules: { 'max-params': 'off' } },
  {
    files: ['tests/**'],
    rules: {
      'project/own-function-lines': 'off',
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
