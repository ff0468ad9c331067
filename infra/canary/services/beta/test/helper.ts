import '../../../shared/testing/src/index.ts'; // by-package-name
