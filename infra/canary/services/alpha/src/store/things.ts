import '../clients/gamma.ts'; // layer-store
