import { defaultClientConditions, defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  base: '/app/',
  logLevel: 'error',
  // Packages for other systems from their sources.
  resolve: { conditions: ['tocsin-source', ...defaultClientConditions] },
  build: {
    // One script and one style sheet: a page without digests of its own must not mix two builds.
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
});
