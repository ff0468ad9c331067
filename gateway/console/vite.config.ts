import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  logLevel: 'error',
  // Packages for other systems from their sources.
  resolve: { conditions: ['tocsin-source', ...defaultClientConditions] },
  build: {
    // One style sheet, and one script for the first screen; a page that is opened later brings one of its own.
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'console', tags: ['$initial'] }] } } },
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
});
