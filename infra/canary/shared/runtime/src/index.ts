import '../../../infra/embedded/main.ts'; // no-way-back-to-infra, layer-runtime
