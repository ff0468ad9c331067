import '../../../infra/embedded/main.ts'; // no-import-of-infra, package-runtime
